import type { status } from '@grpc/grpc-js'

/** An error that grpc-js answers as this status. */
export function rpcError(code: status, details: string): Error {
  return Object.assign(new Error(details), { code, details })
}
