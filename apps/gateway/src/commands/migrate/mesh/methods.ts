import { resolve } from 'node:path'
import type { GrpcSourceOptions } from '@vinyasa/grpc-source'
import { messageOf } from '../../../errors.ts'
import { Unsaid } from '../migration.ts'

/** Prefixes of methods that Mesh takes for reads, where its configuration names no others. */
export const READING: readonly string[] = ['get', 'list', 'search']

/** Files of a gRPC source, relative to a folder. */
interface Files {
  readonly protoFiles?: readonly string[]
  readonly includePaths?: readonly string[]
  readonly descriptorSet?: string
}

/**
 * The fields that Mesh makes of methods: `users_v1_UserService_GetUser(input:)`, a query where the method's name begins
 * with one of `reading`, in any case; and whether there are integers of 64 bits. Throws {@link Unsaid} where the files cannot be
 * read.
 */
export async function meshMethods(
  { protoFiles, includePaths, descriptorSet }: Files,
  directory: string,
  reading: readonly string[],
): Promise<{ readonly methods: Record<string, object>; readonly hasLong: boolean }> {
  const { createGrpcSource } = await import('@vinyasa/grpc-source')
  const absolute = (path: string): string => resolve(directory, path)
  const options: GrpcSourceOptions = {
    name: 'mesh',
    endpoint: 'localhost:1',
    protoFiles: protoFiles?.map(absolute),
    includePaths: includePaths?.map(absolute),
    descriptorSet: descriptorSet === undefined ? undefined : absolute(descriptorSet),
    expose: 'all',
    int64: 'number-when-safe',
    logger: { warn() {}, error() {} },
  }
  const source = await createGrpcSource(options).catch((error: unknown) => {
    throw new Unsaid(messageOf(error))
  })
  const { schema } = source
  await source.close()
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}),
  )
  const methods = Object.fromEntries(
    fields.flatMap(({ args, extensions }) => {
      const method = /^[^:]*: ([\w.]+)/.exec(String(extensions['origin']))?.[1]
      if (method === undefined) return []
      const short = method.slice(method.lastIndexOf('.') + 1).toLowerCase()
      const isRead = reading.some((prefix) => short.startsWith(prefix.toLowerCase()))
      const name = method.replaceAll('.', '_')
      const request = args.length > 0 && { request: { name: 'input' } }
      return [[method, { schema: { type: isRead ? 'QUERY' : 'MUTATION', name, ...request } }]]
    }),
  )
  return { methods, hasLong: schema.getType('Long') !== undefined }
}
