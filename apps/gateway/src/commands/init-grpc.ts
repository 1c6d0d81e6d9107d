import { open } from 'node:fs/promises'
import { isIP } from 'node:net'
import { basename, extname, relative } from 'node:path'
import type { GrpcSource, GrpcSourceOptions } from '@vinyasa/grpc-source'
import type { GraphQLSchema } from 'graphql'
import { ConfigError, messageOf } from '../errors.ts'
import { withAbsolutePaths } from '../sources/files.ts'
import { whatIsThere } from './what-is-there.ts'
import { findProtoRoots, hasService } from './proto-roots.ts'

export interface Draft {
  /** Lines of a comment above the config. */
  readonly note: readonly string[]
  readonly config: object
  /** Files that were written for it. */
  readonly files?: readonly string[]
  /** What its user is told at once, a line each. */
  readonly told?: readonly string[]
  /** Takes away what was downloaded for it. */
  readonly remove?: () => Promise<void>
}

export type Ask = (question: string, fallback: string) => Promise<string>

const ALL =
  'expose: all exposes every method of the services that the file defines; use patterns to select methods.'
const SERVER = ['Address of the gRPC server', 'localhost:50051'] as const

/** A `host:port`, a URL or a target of gRPC, which no file is called here. */
export function isAddress(text: string): boolean {
  return /^[\w.-]+:\d{1,5}$|^\[[\da-f:]+\]:\d{1,5}$|^(https?|grpcs?):\/\/.|^(unix|unix-abstract|dns|ipv4|ipv6):./i.test(
    text,
  )
}

/** Whether a file is none of text: it may be a descriptor set. */
export async function isBinary(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024))
    return buffer.subarray(0, bytesRead).some((byte) => byte < 9)
  } finally {
    await handle.close()
  }
}

/** Files without a service, as one that only imports others, stand for those that they import. */
export async function draftProtos(files: readonly string[], directory: string, ask: Ask): Promise<Draft> {
  const found = await Promise.all(files.map((file) => findProtoRoots(file, directory)))
  const imported = found.flatMap((one) => one.imported)
  const withServices = await having(files)
  const served = withServices.length > 0 ? files : await having(imported)
  const locals = files.map((file) => relative(directory, file))
  if (served.length === 0)
    throw new ConfigError(
      `${locals.join(', ')}: found no service in the given files or their imports (imported files found: ${imported.length}); pass a .proto file that defines a service`,
    )
  const endpoint = await ask(...SERVER)
  const protoFiles = [...new Set(served)].map((file) => relative(directory, file))
  const includePaths = [...new Set(found.flatMap((one) => one.includePaths))]
  const note = protoFiles.length === 1 ? ALL : ALL.replace('the file defines', 'the files define')
  return draftSource(nameOf(locals[0] as string), { endpoint, protoFiles, includePaths }, directory, note)
}

async function having(files: readonly string[]): Promise<readonly string[]> {
  const has = await Promise.all(files.map(hasService))
  return files.filter((_, index) => has[index])
}

export async function draftDescriptorSet(file: string, directory: string, ask: Ask): Promise<Draft> {
  const descriptorSet = relative(directory, file)
  const endpoint = await ask(...SERVER)
  return draftSource(nameOf(descriptorSet), { endpoint, descriptorSet }, directory, ALL)
}

/** A server that describes itself needs no files. */
export async function draftReflection(address: string, directory: string): Promise<Draft> {
  const endpoint = address.replace(/^grpc(s?):/i, 'http$1:').replace(/\/$/, '')
  const place = endpoint.replace(/^\w+:\/\//, '')
  const host = /^unix/i.test(place) ? place : place.replace(/^dns:(\/*)/, '').replace(/:\d+$/, '')
  // An address in numbers says nothing of what is there.
  const name = isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0 ? nameOf(host) : 'api'
  const note = 'The gateway loads the services from the server at each start (reflection).'
  return draftSource(name, { endpoint, reflection: true }, directory, note)
}

type GrpcDraft = Pick<GrpcSourceOptions, 'includePaths' | 'protoFiles' | 'reflection'> & {
  readonly endpoint: string
  readonly descriptorSet?: string
}

/** The config, and a line for each method: what it has become, as the gateway chose it. */
async function draftSource(name: string, draft: GrpcDraft, directory: string, note: string): Promise<Draft> {
  const options = { ...draft, name, expose: 'all' } as const
  const source = await openGrpc(options, directory).catch(async (error: unknown) => {
    if (draft.reflection) throw await whatIsThere(draft.endpoint, error)
    throw new ConfigError(`init: ${messageOf(error)}`, { cause: error })
  })
  try {
    const { schema } = source
    const roots = {
      query: schema.getQueryType(),
      mutation: schema.getMutationType(),
      subscription: schema.getSubscriptionType(),
    }
    const fields = Object.entries(roots).flatMap(([kind, type]) =>
      Object.values(type?.getFields() ?? {}).map(
        (field) =>
          `${kind.padEnd(12)} ${field.name}: ${String(field.extensions['origin']).replace(/^[^:]*: /, '')}`,
      ),
    )
    return {
      note: [note, ...fields, ...source.notes],
      told: source.notes,
      config: { grpc: { [name]: { ...draft, expose: 'all' } } },
    }
  } finally {
    await source.close()
  }
}

/** A source's name from its file's: letters, digits and `_`, starting with a letter. */
export function nameOf(local: string): string {
  const name = basename(local, extname(local)).replace(/[^A-Za-z0-9_]/g, '_')
  return /^[A-Za-z]/.test(name) ? name : `api_${name}`
}

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
