import { GrpcSourceError } from './errors.ts'

/** This module stands for the package where nothing fulfils the export condition `node`. */

export { GrpcSourceError } from './errors.ts'

/** No call is made here: nothing is an instance of it. */
export class GrpcCallError extends Error {}

/** Rejects: there are no sockets here. */
export async function createGrpcSource(): Promise<never> {
  throw notHere()
}

/** Throws: there are no sockets here. */
export function useGrpcSource(): never {
  throw notHere()
}

function notHere(): GrpcSourceError {
  return new GrpcSourceError(
    'GRPC_SOURCE_PLATFORM',
    '@vinyasa/grpc-source needs HTTP/2 sockets, which Node, Bun and Deno have. Run the server on one of these runtimes. If you bundle the server, use the export condition "node".',
  )
}
