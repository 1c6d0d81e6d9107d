import { existsSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import type { CommandContext } from './context.ts'
import { downloadDocument, type DownloadedDocument } from './download-document.ts'
import { withoutVariables } from '../config/file/environment.ts'
import { CONFIG_FILES } from '../config/file/load-config.ts'
import { ConfigError, messageOf } from '../errors.ts'
import { commentOf } from '../texts/escapes.ts'
import {
  type Ask,
  type Draft,
  draftDescriptorSet,
  draftProtos,
  draftReflection,
  isAddress,
  isBinary,
  nameOf,
} from './init-grpc.ts'
import { GIVE_DOCUMENT, HTML, pageAt } from './what-is-there.ts'

export interface InitFlags {
  readonly endpoint?: string
  /** An old configuration of another gateway. */
  readonly from?: string
}

/**
 * `vinyasa init`: writes a config for protos, a descriptor set, an OpenAPI document or a gRPC server, asking for what the
 * command line leaves open.
 */
export async function initCommand(
  given: readonly string[],
  { endpoint, from }: InitFlags,
  context: CommandContext,
): Promise<void> {
  const { directory } = context
  const existing = CONFIG_FILES.find((name) => existsSync(join(directory, name)))
  if (existing !== undefined) {
    throw new ConfigError(`${join(directory, existing)} exists already; edit it, or remove it first`)
  }
  if (from !== undefined) {
    const [file] = given
    if (file !== undefined && /^[\w-]+$/.test(from) && !existsSync(join(directory, from)))
      throw new ConfigError(
        `init --from ${from}: no such file; --from expects the old config file, such as init --from ${file}`,
      )
    if (file !== undefined || endpoint !== undefined)
      throw new ConfigError('init --from: cannot be combined with other files or --endpoint; remove them')
    return (await import('./migrate/init-from.ts')).initFrom(from, context)
  }
  const question =
    'A .proto file or descriptor set, an OpenAPI document or its URL, or the address of a gRPC server: '
  const answers = given.length > 0 ? given : [(await context.ask?.(question)) ?? '']
  const wanted = answers.map((one) => one.trim())
  const ask: Ask = async (text, fallback) => {
    if (endpoint !== undefined) return endpoint
    const answer = given.length === 0 ? await context.ask?.(`${text} (${fallback}): `) : undefined
    return answer?.trim() || fallback
  }
  const draft = await draftOf(wanted, directory, ask)
  try {
    await write(draft, context)
  } catch (error) {
    await draft.remove?.()
    throw error
  }
}

async function draftOf(wanted: readonly string[], directory: string, ask: Ask): Promise<Draft> {
  const [first = ''] = wanted
  if (first === '') {
    throw new ConfigError(
      'init: expected a file, a URL or the address of a gRPC server; run for example `vinyasa init users.proto` or `vinyasa init openapi.yaml`',
    )
  }
  const files = wanted.map((one) => resolve(directory, one))
  const missing = files.find((file, index) => !existsSync(file) && !isAddress(wanted[index] as string))
  if (missing !== undefined)
    throw new ConfigError(
      `${missing}: no such file; pass a .proto file, a descriptor set, an OpenAPI document or its URL, or the address of a gRPC server (host:port, unix:/path)`,
    )
  if (files.every((file) => extname(file) === '.proto')) return draftProtos(files, directory, ask)
  if (wanted.length > 1)
    throw new ConfigError(
      `init: only .proto files can be combined; pass one of ${wanted.join(', ')} and add the others to the config`,
    )
  const [file = ''] = files
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new ConfigError(`init: ${first} is a folder; pass the path of a file`)
  if (existsSync(file)) {
    return (await isBinary(file))
      ? draftDescriptorSet(file, directory, ask)
      : draftRest(file, file, directory, ask)
  }
  return /^https?:/i.test(first) ? draftUrl(first, directory, ask) : draftReflection(first, directory)
}

/** What is at a URL: a document, or a gRPC server that describes itself. */
async function draftUrl(address: string, directory: string, ask: Ask): Promise<Draft> {
  try {
    return await draftDownloaded(address, directory, ask)
  } catch (error) {
    if (new URL(address).pathname === '/')
      return draftReflection(address, directory).catch(async (cause: unknown) => {
        const page = await pageAt(address)
        // It is a document, and what is wrong with it was said before.
        throw page === undefined || page === HTML ? cause : error
      })
    // Of a path there is no gRPC server.
    if ((await pageAt(address)) !== HTML) throw error
    throw new ConfigError(`${messageOf(error)}; the address returns ${HTML}, so ${GIVE_DOCUMENT}`, {
      cause: error,
    })
  }
}

/** The document is kept below the config: a running gateway downloads nothing. */
async function draftDownloaded(address: string, directory: string, ask: Ask): Promise<Draft> {
  const downloaded = await downloadDocument(address, directory)
  const { files, remove } = downloaded
  try {
    const [file = ''] = files.map((one) => join(directory, one))
    return { ...(await draftRest(file, address, directory, ask, downloaded)), files, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function write(draft: Draft, context: CommandContext): Promise<void> {
  const target = join(context.directory, 'gateway.config.yaml')
  const { files = [], told = [] } = draft
  await writeFile(target, `${commentOf(draft.note)}${stringify(draft.config)}`, { flag: 'wx' })
  for (const file of ['gateway.config.yaml', ...files])
    context.print(`wrote    ${join(context.directory, file)}`)
  // The config has all of them.
  for (const line of told.slice(0, MAX_TOLD)) context.print(`note     ${line}`)
  context.print('next     vinyasa check    connects to the backend and reports problems')
  context.print('         vinyasa start    serves http://127.0.0.1:4000/graphql')
}

const MAX_TOLD = 50
const LOCAL = 'http://localhost:8080'

/** A document that says a path and no host has its operations below that path, on whatever host is given without one. */
function withPathOf(declared: string, given: string): string {
  const { origin, pathname } = new URL(declared)
  const isHost = URL.canParse(given) && /^https?:\/\/[^/?#]+\/?$/.test(given)
  return isHost && origin === LOCAL && pathname !== '/' ? new URL(pathname, given).href : given
}

/** `name`: what the user calls the document. */
async function draftRest(
  file: string,
  name: string,
  directory: string,
  ask: Ask,
  downloaded?: DownloadedDocument,
): Promise<Draft> {
  const local = relative(directory, file)
  const { name: source = nameOf(local), url, folder = '', missing = [] } = downloaded ?? {}
  // Files in folders above the document belong to it too.
  const origins = downloaded === undefined || dirname(local) === folder ? [] : [folder]
  const download = { origins: origins.map((one) => join(directory, one)) }
  const { importOpenApi, describeFinding } = await import('@vinyasa/rest-connector')
  const read = (documentUrl?: string) =>
    importOpenApi(file, { source, documentUrl, download, env: {} }).catch((error: unknown) => {
      const [reason = ''] = messageOf(error).split('\n')
      throw new ConfigError(
        `${name}: ${reason}; expected a .proto file, a descriptor set or an OpenAPI document`,
        { cause: error },
      )
    })
  const given = await read(url)
  // A server that is only a path is one of the machine's own until somebody says where it is.
  const {
    baseUrl: declared = LOCAL,
    findings,
    variables,
    endpoints,
  } = given.baseUrl ? given : await read(LOCAL)
  const asked = await ask('Base URL of the API', declared)
  const baseUrl = given.baseUrl ? asked : withPathOf(declared, asked)
  const elsewhere = endpoints.filter(
    (one) => one.baseUrl && new URL(one.baseUrl).origin !== new URL(declared).origin,
  )
  // One that is written down would be asked for those, too.
  const isLeftOut = baseUrl === given.baseUrl && elsewhere.length > 0
  const credentials = variables.map(({ variable, schemes }) => {
    const names = schemes.map((scheme) => `"${scheme}"`).join(', ')
    return downloaded
      ? `Credentials for ${names} are not sent; set security: env to read them from ${variable}.`
      : `Credentials for ${names} are read from ${variable}.`
  })
  const left = missing.map((reason) => `Not saved: ${reason}.`)
  return {
    ...(downloaded && { told: [...left, ...credentials] }),
    note: [
      'Each converted operation of the document is a field: a query for GET, a mutation for other methods.',
      ...(url === undefined ? [] : ['The document was downloaded once; download it again to get changes.']),
      ...(isLeftOut
        ? [
            `The document declares the base URL ${baseUrl}, but ${elsewhere.length === 1 ? '1 operation declares another server' : `${elsewhere.length} operations declare other servers`}.`,
            'baseUrl is not set, so that each operation uses its own server. If you set baseUrl, the gateway sends all operations to it.',
          ]
        : []),
      ...left,
      ...credentials,
      ...findings.map(describeFinding),
    ],
    config: {
      rest: {
        [source]: {
          ...(!isLeftOut && { baseUrl: asked === declared ? withoutVariables(baseUrl) : baseUrl }),
          openapi:
            url === undefined
              ? withoutVariables(local)
              : {
                  file: local,
                  documentUrl: withoutVariables(url),
                  // The document must not choose which variables of the environment are sent.
                  security: false,
                  ...(origins.length > 0 && { download: { origins } }),
                },
        },
      },
    },
  }
}
