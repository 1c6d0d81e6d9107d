import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, extname, join, relative, resolve } from 'node:path'
import { parse as parseYaml, stringify } from 'yaml'
import type { CommandContext } from './context.ts'
import { CONFIG_FILES } from '../config/load-config.ts'
import { ConfigError, messageOf } from '../errors.ts'
import { findProtoRoots } from './proto-roots.ts'

export interface InitFlags {
  readonly endpoint?: string
}

interface Draft {
  /** Lines of a comment above the config. */
  readonly note: readonly string[]
  readonly config: object
}

/** `vinyasa init`: writes a config for one proto or OpenAPI file, asking for what the command line leaves open. */
export async function initCommand(
  given: string | undefined,
  { endpoint }: InitFlags,
  context: CommandContext,
): Promise<void> {
  const { directory } = context
  const existing = CONFIG_FILES.find((name) => existsSync(join(directory, name)))
  if (existing !== undefined) {
    throw new ConfigError(`${join(directory, existing)} exists already; edit it, or remove it first`)
  }
  const answer = given ?? (await context.ask?.('Path of a .proto or OpenAPI file: '))
  if (answer === undefined || answer.trim() === '') {
    throw new ConfigError(
      'init: expected a file; run `vinyasa init users.proto` or `vinyasa init openapi.yaml`',
    )
  }
  const file = resolve(directory, answer.trim())
  if (!existsSync(file) && isAddress(answer.trim()))
    return write(await draftReflection(answer.trim()), context)
  if (!existsSync(file)) throw new ConfigError(`${file}: no such file; pass a .proto or an OpenAPI document`)
  const local = relative(directory, file)
  const ask = async (question: string, fallback: string): Promise<string> => {
    if (endpoint !== undefined) return endpoint
    const text = given === undefined ? await context.ask?.(`${question} (${fallback}): `) : undefined
    return text?.trim() || fallback
  }

  const isProto = extname(file) === '.proto'
  await write(isProto ? await draftGrpc(file, directory, ask) : await draftRest(file, local, ask), context)
}

async function write(draft: Draft, context: CommandContext): Promise<void> {
  const target = join(context.directory, 'gateway.config.yaml')
  await writeFile(target, `${comment(draft.note)}${stringify(draft.config)}`, { flag: 'wx' })
  context.print(`wrote    ${target}`)
  context.print('next     vinyasa check    connects to the backend and reports what is wrong')
  context.print('         vinyasa start    serves http://127.0.0.1:4000/graphql')
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => `# ${line.replaceAll('\n', ' ')}\n`).join('')
}

/** `host:port`, which no file is called here. */
function isAddress(text: string): boolean {
  return /^[\w.-]+:\d{1,5}$/.test(text)
}

type Ask = (question: string, fallback: string) => Promise<string>

async function draftGrpc(file: string, directory: string, ask: Ask): Promise<Draft> {
  const endpoint = await ask('Address of the gRPC server', 'localhost:50051')
  const local = relative(directory, file)
  const includePaths = await findProtoRoots(file, directory)
  const name = nameOf(local)
  return {
    note: [
      'expose: all takes every method of the services that the file defines; patterns take or leave out some.',
      ...(await describeFields(name, { endpoint, protoFiles: [local], includePaths }, directory)),
    ],
    config: { grpc: { [name]: { endpoint, protoFiles: [local], includePaths, expose: 'all' } } },
  }
}

/** A server that describes itself needs no files. */
async function draftReflection(address: string): Promise<Draft> {
  const name = nameOf(address.replace(/:.*/, ''))
  return {
    note: ['The server is asked for its services at each start (reflection).'],
    config: { grpc: { [name]: { endpoint: address, reflection: true, expose: 'all' } } },
  }
}

/** A line for each method: what it has become, as the gateway chose it. */
async function describeFields(
  name: string,
  {
    endpoint,
    protoFiles,
    includePaths,
  }: { endpoint: string; protoFiles: string[]; includePaths: readonly string[] },
  directory: string,
): Promise<string[]> {
  const { createGrpcSource } = await import('@vinyasa/grpc-source')
  const absolute = (path: string): string => resolve(directory, path)
  const source = await createGrpcSource({
    name,
    endpoint,
    protoFiles: protoFiles.map(absolute),
    includePaths: includePaths.map(absolute),
    expose: 'all',
    logger: { warn() {}, error() {} },
  }).catch((error: unknown) => {
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
    return [...fields, ...source.notes]
  } finally {
    await source.close()
  }
}

async function draftRest(file: string, local: string, ask: Ask): Promise<Draft> {
  const document = await readDocument(file)
  const [server] = Array.isArray(document['servers']) ? document['servers'] : []
  const url = (server as { url?: unknown } | undefined)?.url
  const declared = typeof url === 'string' && URL.canParse(url) ? url : 'http://localhost:8080'
  const baseUrl = await ask('Base URL of the API', declared)
  return {
    note: ['Every operation of the document is a field: GET a query, the others mutations.'],
    config: { rest: { [nameOf(local)]: { baseUrl, openapi: local } } },
  }
}

async function readDocument(file: string): Promise<Record<string, unknown>> {
  let document: unknown
  try {
    // JSON is YAML, too.
    document = parseYaml(await readFile(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`${file}: not a .proto and not readable as YAML or JSON`, { cause: error })
  }
  if (document === null || typeof document !== 'object' || !('openapi' in document)) {
    throw new ConfigError(
      `${file}: expected a .proto file or an OpenAPI 3 document (with an "openapi" version)`,
    )
  }
  return document as Record<string, unknown>
}

/** A source's name from its file's: letters, digits and `_`, starting with a letter. */
function nameOf(local: string): string {
  const name = basename(local, extname(local)).replace(/[^A-Za-z0-9_]/g, '_')
  return /^[A-Za-z]/.test(name) ? name : `api_${name}`
}
