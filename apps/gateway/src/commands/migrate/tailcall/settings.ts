import { filled, textOf, type Values } from '../migration.ts'
import type { OldDirective, OldDocument } from '../old-document.ts'

/** What a configuration of Tailcall says of all its backends. */
export interface Upstream {
  /** For sources whose address says none. */
  readonly name: string
  readonly baseUrl: string | undefined
  readonly protoFiles: readonly string[]
  /** Addresses of servers that describe themselves. */
  readonly reflected: ReadonlySet<string>
  readonly maxBatchSize: number | undefined
  /** Headers of clients that are sent along with every request. */
  readonly forwarded: readonly string[]
  readonly cacheSize: number | undefined
  readonly vars: ReadonlyMap<string, string>
}

/** Settings that are converted, and settings that change nothing for clients. */
const KNOWN: ReadonlySet<string> = new Set([
  'server.port',
  'server.hostname',
  'server.introspection',
  'server.vars',
  'server.headers',
  'server.routes',
  'upstream.baseURL',
  'upstream.allowedHeaders',
  'upstream.batch',
  'upstream.httpCache',
  'server.version',
  'server.enableJIT',
  'server.pipelineFlush',
  'server.queryValidation',
  'server.responseValidation',
  'upstream.keepAliveInterval',
  'upstream.keepAliveTimeout',
  'upstream.keepAliveWhileIdle',
  'upstream.http2Only',
  'upstream.poolIdleTimeout',
  'upstream.poolMaxIdlePerHost',
  'upstream.tcpKeepAlive',
  'upstream.userAgent',
])

const LINKS: Readonly<Record<string, string>> = {
  Config: 'linked SDL files are not read; convert the linked file separately with vinyasa init --from <file>',
  Jwks: 'add the issuer to auth.jwt',
  Htpasswd: 'passwords are not supported; authenticate callers with auth.jwt',
  Operation: 'register documents in persistedDocuments',
  Script: 'scripts cannot be converted; write resolvers or interceptors in a TypeScript config',
  Cert: 'terminate TLS in a proxy in front of the gateway',
  Key: 'terminate TLS in a proxy in front of the gateway',
}

/** Reads what a configuration of Tailcall says of the whole: `@server`, `@upstream`, `@link`. */
export function readSettings(
  old: OldDocument,
  name: string,
): { readonly upstream: Upstream; readonly settings: Record<string, unknown> } {
  const directives = old.schemaDirectives()
  const argsOf = (wanted: string): Values =>
    Object.assign({}, ...directives.filter((one) => one.name === wanted).map(({ args }) => args))
  const [server, upstream] = [argsOf('server'), argsOf('upstream')]
  const protoFiles: string[] = []
  const reflected = new Set<string>()
  for (const { name: directive, args, line } of directives) {
    const type = String(args['type'] ?? 'Config')
    if (directive === 'telemetry') old.note(line, '@telemetry: set metrics and tracing')
    if (directive !== 'link') continue
    if (type === 'Protobuf') protoFiles.push(String(args['src']))
    else if (type === 'Grpc') reflected.add(String(args['src']))
    else old.note(line, `@link(type: ${type}): ${LINKS[type] ?? 'links of this type have no equivalent'}`)
  }
  noteOthers(directives, old)
  return {
    settings: filled({ server: serverOf(server), graphql: graphqlOf(server) }),
    upstream: {
      name,
      baseUrl: textOf(upstream['baseURL']),
      protoFiles,
      reflected,
      maxBatchSize: number((upstream['batch'] as Values | undefined)?.['maxSize']),
      forwarded: list(upstream['allowedHeaders']).map((header) => header.toLowerCase()),
      cacheSize: number(upstream['httpCache']),
      vars: new Map(pairs(server['vars'])),
    },
  }
}

function serverOf(server: Values): Values {
  return filled({ port: number(server['port']), host: textOf(server['hostname']) })
}

function graphqlOf(server: Values): Values {
  const cors = (server['headers'] as Values | undefined)?.['cors'] as Values | undefined
  const origins = list(cors?.['allowOrigins'])
  const introspection = server['introspection'] === false ? false : undefined
  const path = textOf((server['routes'] as Values | undefined)?.['graphQL'])
  return filled({
    path,
    introspection,
    cors:
      origins.length > 0
        ? filled({
            origins,
            credentials: cors?.['allowCredentials'] === true && !origins.includes('*') ? true : undefined,
            exposedHeaders: cors?.['exposeHeaders'],
            maxAgeSeconds: number(cors?.['maxAge']),
          })
        : undefined,
  })
}

/** Says what was not read. */
function noteOthers(directives: readonly OldDirective[], old: OldDocument): void {
  for (const { name, args, line } of directives) {
    if (name !== 'server' && name !== 'upstream') continue
    for (const [key, value] of Object.entries(args)) {
      const setting = `${name}.${key}`
      if (setting === 'server.workers')
        old.note(line, `@server(workers:): start the gateway with --workers ${String(value)}`)
      else if (!KNOWN.has(setting))
        old.note(
          line,
          `@${name}(${key}:) cannot be converted; look for a similar setting of ${name === 'server' ? 'server or graphql' : 'the sources (rest, grpc)'}`,
        )
    }
    const headers = args['headers'] as Values | undefined
    for (const key of name === 'server' ? Object.keys(headers ?? {}) : [])
      if (key === 'cacheControl')
        old.note(line, '@server(headers.cacheControl:): set responseCache.clientMaxAge')
      else if (key !== 'cors')
        old.note(line, `@server(headers.${key}:) has no equivalent; write a plugin if you need it`)
  }
}

function number(value: unknown): number | undefined {
  return /^\d+$/.test(String(value)) ? Number(value) : undefined
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** Lists of `{ key, value }`. */
export function pairs(value: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(value)) return []
  return value.map((one: Values) => [String(one['key']), String(one['value'])] as const)
}
