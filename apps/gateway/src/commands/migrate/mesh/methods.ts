import type { GraphQLSchema } from 'graphql'
import { messageOf } from '../../../errors.ts'
import { grpcSchemaOf } from '../../init-grpc.ts'
import { knownMessages } from '../known-messages.ts'
import { Unsaid } from '../migration.ts'

/** Prefixes of methods that Mesh takes for reads, where its configuration names no others. */
export const READING: readonly string[] = ['get', 'list', 'search']

/** Files of a gRPC source, relative to a folder. */
interface Files {
  readonly protoFiles?: readonly string[]
  readonly includePaths?: readonly string[]
  readonly descriptorSet?: string
}

/** What makes a gRPC source look as it does in Mesh. */
export interface MeshMethods {
  readonly methods: Readonly<Record<string, object>>
  /** Of messages that are scalars otherwise. */
  readonly typeNames: Readonly<Record<string, string>>
  /** Of what these messages are in arguments. */
  readonly rename: Readonly<Record<string, string>>
  /** Integers of 64 bits are among the types. */
  readonly hasLong: boolean
}

/**
 * The fields that Mesh makes of methods: `users_v1_UserService_GetUser(input:)`, a query where the method's name begins
 * with one of `reading`, in any case. Throws {@link Unsaid} where the files cannot be read.
 */
export async function meshMethods(
  { protoFiles, includePaths, descriptorSet }: Files,
  directory: string,
  reading: readonly string[],
): Promise<MeshMethods> {
  const bare = await schemaOf({ protoFiles, includePaths, descriptorSet }, directory, {})
  const typeNames = knownMessages(bare, (message) => `google__protobuf__${message}`)
  const schema =
    Object.keys(typeNames).length === 0
      ? bare
      : await schemaOf({ protoFiles, includePaths, descriptorSet }, directory, typeNames)
  const inputs = Object.values(typeNames).filter((name) => schema.getType(`${name}Input`))
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
  return {
    methods,
    typeNames,
    rename: Object.fromEntries(inputs.map((name) => [`${name}Input`, `${name}_Input`])),
    hasLong: schema.getType('Long') !== undefined,
  }
}

async function schemaOf(
  files: Files,
  directory: string,
  typeNames: MeshMethods['typeNames'],
): Promise<GraphQLSchema> {
  const options = { ...files, name: 'mesh', endpoint: 'localhost:1', typeNames } as const
  return grpcSchemaOf({ ...options, expose: 'all', int64: 'number-when-safe' }, directory).catch(
    (error: unknown) => {
      throw new Unsaid(messageOf(error))
    },
  )
}
