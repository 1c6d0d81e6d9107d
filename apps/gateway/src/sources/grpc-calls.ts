import type { CallKind, ObserveBackendCall } from '../observability/backend-call.ts'
import { keyed } from '../observability/tallies.ts'

const KIND: CallKind = {
  name: 'grpc',
  spanName: (_source, call) => call,
  spanAttributes(call) {
    const [service = '', method = ''] = call.split('/')
    return { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method }
  },
  statusAttribute: 'rpc.grpc.status',
}

interface GrpcCall {
  readonly source: string
  readonly service: string
  readonly method: string
  readonly context: unknown
}

/** For the `observe` option of a gRPC source. */
export function forGrpc(
  observe: ObserveBackendCall,
): (
  call: GrpcCall,
) => (end: { readonly status: string; readonly attempts: number; readonly callerLeft: boolean }) => void {
  // Made once: whoever looks a call up by a text that is put together anew has it hashed anew.
  const nameOf = keyed((service: string) => keyed((method: string) => `${service}/${method}`))
  return ({ source, service, method, context }) => {
    const ended = observe({ source, kind: KIND, name: nameOf(service)(method), context })
    return ({ status, attempts, callerLeft }) =>
      ended?.({ status, failed: status !== 'OK' && !callerLeft, retries: Math.max(0, attempts - 1) })
  }
}
