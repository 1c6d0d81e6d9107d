import { keyed } from '@vinyasa/base'
import type { Outage } from '../../logging/outage.ts'
import type { GrpcSourceOptions } from '@vinyasa/grpc-source'
import { type CallKind, endedBy, type ObserveBackendCall } from '../../observability/backend-call.ts'

const KIND: CallKind = {
  name: 'grpc',
  spanName: (_source, call) => call,
  spanAttributes: (call) => ({ 'rpc.system.name': 'grpc', 'rpc.method': call }),
  statusAttribute: 'rpc.status_code',
}

/** For the `observe` option of a gRPC source. */
export function forGrpc(
  observe: ObserveBackendCall,
  outage: Outage,
): NonNullable<GrpcSourceOptions['observe']> {
  // Made once: whoever looks a call up by a text that is put together anew has it hashed anew.
  const nameOf = keyed((service: string) => keyed((method: string) => `${service}/${method}`))
  return ({ source, service, method, context }) => {
    const ended = observe({ source, kind: KIND, name: nameOf(service)(method), context })
    return endedBy(ended, ({ status, reason, isReached, attempts, callerLeft }) => {
      if (isReached === false) outage.failed(reason, String)
      else if (isReached) outage.worked()
      return {
        status,
        failed: status !== 'OK' && !callerLeft,
        retries: Math.max(0, attempts - 1),
      }
    })
  }
}
