import type { GrpcSource, GrpcSourceOptions } from '@vinyasa/grpc-source'
import type { GraphQLSchema } from 'graphql'
import { withAbsolutePaths } from '../sources/files.ts'

/** Opens a gRPC source of files that are named from a folder. It is loaded here alone, and logs nothing. */
export async function openGrpc(options: GrpcSourceOptions, directory: string): Promise<GrpcSource> {
  const { createGrpcSource } = await import('@vinyasa/grpc-source')
  const logger = { warn() {}, error() {} }
  return createGrpcSource({ ...options, ...withAbsolutePaths(options, directory), logger })
}

/** The schema of such a source. */
export async function grpcSchemaOf(options: GrpcSourceOptions, directory: string): Promise<GraphQLSchema> {
  const source = await openGrpc(options, directory)
  await source.close()
  return source.schema
}
