import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, extname, join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import type { CommandContext } from './context.ts'
import { downloadDocument } from './download-document.ts'
import { CONFIG_FILES } from '../config/file/load-config.ts'
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
  const answer =
    given ?? (await context.ask?.('Path of a .proto file, or path or URL of an OpenAPI document: '))
  if (answer === undefined || answer.trim() === '') {
    throw new ConfigError(
      'init: expected a file; run `vinyasa init users.proto` or `vinyasa init openapi.yaml`',
    )
  }
  const ask = async (question: string, fallback: string): Promise<string> => {
    if (endpoint !== undefined) return endpoint
    const text = given === undefined ? await context.ask?.(`${question} (${fallback}): `) : undefined
    return text?.trim() || fallback
  }
  const wanted = answer.trim()
  if (/^https?:\/\//i.test(wanted)) return initFromUrl(wanted, ask, context)
  const file = resolve(directory, wanted)
  if (!existsSync(file) && isAddress(wanted)) return write(await draftReflection(wanted), context)
  if (!existsSync(file)) throw new ConfigError(`${file}: no such file; pass a .proto or an OpenAPI document`)
  const isProto = extname(file) === '.proto'
  const draft = isProto ? draftGrpc(file, directory, ask) : draftRest({ file, name: file, directory, ask })
  await write(await draft, context)
}

/** The document is kept beside the config: a running gateway downloads nothing. */
async function initFromUrl(address: string, ask: Ask, context: CommandContext): Promise<void> {
  const { directory } = context
  const { file, url, missing, remove } = await downloadDocument(address, directory)
  try {
    await write(await draftRest({ file, name: address, url, missing, directory, ask }), context)
  } catch (error) {
    await remove()
    throw error
  }
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

const LOCAL = 'http://localhost:8080'

interface RestDraftOptions {
  readonly file: string
  /** The user's own name for it. */
  readonly name: string
  /** The address that it was downloaded from, if it was. */
  readonly url?: string | undefined
  /** Files of it that could not be downloaded. */
  readonly missing?: readonly string[] | undefined
  readonly directory: string
  readonly ask: Ask
}

async function draftRest({
  file,
  name,
  url,
  missing = [],
  directory,
  ask,
}: RestDraftOptions): Promise<Draft> {
  const local = relative(directory, file)
  const source = nameOf(local)
  const { importOpenApi, describeFinding } = await import('@vinyasa/rest-connector')
  const read = (documentUrl?: string) =>
    importOpenApi(file, { source, documentUrl }).catch((error: unknown) => {
      const [reason = ''] = messageOf(error).split('\n')
      throw new ConfigError(`${name}: expected a .proto file or an OpenAPI document; ${reason}`, {
        cause: error,
      })
    })
  const given = await read(url)
  // A server that is only a path is one of the machine's own until somebody says where it is.
  const {
    baseUrl: declared = LOCAL,
    findings,
    variables,
    endpoints,
  } = given.baseUrl ? given : await read(LOCAL)
  const baseUrl = await ask('Base URL of the API', declared)
  const elsewhere = endpoints.filter(
    (one) => one.baseUrl && new URL(one.baseUrl).origin !== new URL(declared).origin,
  )
  // One that is written down would be asked for those, too.
  const isLeftOut = baseUrl === given.baseUrl && elsewhere.length > 0
  return {
    note: [
      'Every operation of the document is a field: GET a query, the others mutations.',
      ...(url === undefined
        ? []
        : ['The document is what its URL gave once; download it again for changes.']),
      ...(isLeftOut
        ? [
            `The API is at ${baseUrl}, and ${elsewhere.length} operations at other servers, as the document says.`,
          ]
        : []),
      ...missing.map((reason) => `Not downloaded: ${reason}.`),
      ...variables.map(({ variable, schemes }) => {
        const names = schemes.map((name) => `"${name}"`).join(', ')
        return `Credentials for ${names} are read from ${variable}.`
      }),
      ...findings.map(describeFinding),
    ],
    config: {
      rest: {
        [source]: {
          ...(!isLeftOut && { baseUrl }),
          openapi: url === undefined ? local : { file: local, documentUrl: url },
        },
      },
    },
  }
}

/** A source's name from its file's: letters, digits and `_`, starting with a letter. */
function nameOf(local: string): string {
  const name = basename(local, extname(local)).replace(/[^A-Za-z0-9_]/g, '_')
  return /^[A-Za-z]/.test(name) ? name : `api_${name}`
}
