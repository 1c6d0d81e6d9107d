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
    '@vinyasa/grpc-source needs the sockets of Node, Bun or Deno for HTTP/2: run this server there, or bundle it with the export condition "node".',
  )
}
