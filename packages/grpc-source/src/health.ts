import { WireReader } from './codec/wire-reader.ts'
import { GrpcCallError, type Transport } from '@vinyasa/grpc-transport'
import { describeFailure, FAULTS } from './runtime/faults.ts'

export type HealthStatus = 'SERVING' | 'NOT_SERVING' | 'UNKNOWN'

export interface EndpointHealth {
  /** `host:port` */
  readonly address: string
  readonly status: HealthStatus
  /** The gRPC status if the endpoint is not serving. */
  readonly reason?: string | undefined
  /** A description of the failure for operators. It can contain addresses, but never the backend's message. */
  readonly detail?: string | undefined
}

export interface SourceHealth {
  /** `SERVING` if every endpoint is serving. */
  readonly status: HealthStatus
  readonly endpoints: readonly EndpointHealth[]
}

export interface HealthOptions {
  /** Timeout in milliseconds. Default 1000. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Calls `grpc.health.v1.Health/Check` on each endpoint. A server without this service is serving if it responds. */
export async function checkHealth(
  transports: ReadonlyMap<string, Transport>,
  options: HealthOptions = {},
): Promise<SourceHealth> {
  const { timeoutMs = 1_000, signal } = options
  const endpoints = await Promise.all(
    [...transports].map(async ([address, transport]): Promise<EndpointHealth> => {
      try {
        const call = { path: '/grpc.health.v1.Health/Check', metadata: [], timeoutMs, signal }
        return { address, status: readStatus(await transport.unary(call, new Uint8Array())) }
      } catch (error) {
        const ended = error instanceof GrpcCallError ? error.status : undefined
        if (ended && FAULTS[ended].isAlive) return { address, status: 'SERVING' }
        const reason = ended ?? String(error)
        return { address, status: 'NOT_SERVING', reason, detail: describeFailure(error) }
      }
    }),
  )
  const worst = endpoints.find(({ status }) => status !== 'SERVING')
  return { status: worst?.status ?? 'SERVING', endpoints }
}

function readStatus(bytes: Uint8Array): HealthStatus {
  const reader = new WireReader(bytes)
  let status = 0
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    if (tag === 8) status = reader.int32()
    else reader.skip(tag & 7, tag >>> 3)
  }
  if (status === 1) return 'SERVING'
  return status === 2 ? 'NOT_SERVING' : 'UNKNOWN'
}
