import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { parse as parseYaml, stringify } from 'yaml'
import type { CommandContext } from './context.ts'
import { CONFIG_FILES } from '../config/load-config.ts'
import { ConfigError } from '../errors.ts'

export interface InitFlags {
  readonly endpoint?: string
}

interface Draft {
  readonly note: string
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
  if (!existsSync(file)) throw new ConfigError(`${file}: no such file; pass a .proto or an OpenAPI document`)
  const local = relative(directory, file)
  const ask = async (question: string, fallback: string): Promise<string> => {
    if (endpoint !== undefined) return endpoint
    const text = given === undefined ? await context.ask?.(`${question} (${fallback}): `) : undefined
    return text?.trim() || fallback
  }

  const draft = extname(file) === '.proto' ? await draftGrpc(local, ask) : await draftRest(file, local, ask)
  const target = join(directory, 'gateway.config.yaml')
  await writeFile(target, `# ${draft.note}\n${stringify(draft.config)}`, { flag: 'wx' })
  context.print(`wrote    ${target}`)
  context.print('next     vinyasa check    connects to the backend and reports what is wrong')
  context.print('         vinyasa start    serves http://127.0.0.1:4000/graphql')
}

type Ask = (question: string, fallback: string) => Promise<string>

async function draftGrpc(local: string, ask: Ask): Promise<Draft> {
  const endpoint = await ask('Address of the gRPC server', 'localhost:50051')
  return {
    note: 'expose: all takes every method; leave it out to expose only those with a (graphql.schema) option.',
    config: {
      grpc: {
        [nameOf(local)]: {
          endpoint,
          protoFiles: [local],
          includePaths: [dirname(local)],
          expose: 'all',
        },
      },
    },
  }
}

async function draftRest(file: string, local: string, ask: Ask): Promise<Draft> {
  const document = await readDocument(file)
  const [server] = Array.isArray(document['servers']) ? document['servers'] : []
  const url = (server as { url?: unknown } | undefined)?.url
  const declared = typeof url === 'string' && URL.canParse(url) ? url : 'http://localhost:8080'
  const baseUrl = await ask('Base URL of the API', declared)
  return {
    note: 'Every operation of the document is a field: GET a query, the others mutations.',
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
