import { relative } from 'node:path'
import { type GraphQLSchema, isObjectType } from 'graphql'
import { grpcSchemaOf, nameOf } from '../../init-grpc.ts'
import { findProtoRoots } from '../../proto-roots.ts'
import { ConfigError, messageOf } from '../../../errors.ts'
import { knownMessages, filled, type Migration, type Note, type Values } from '../migration.ts'
import { type GatewayCode, NO_CODE, inBrackets, lineAt, serverAt, withoutComments } from './code.ts'
import { type Dialect, goDialect, goPackageName, RUST } from './dialects.ts'
import type { Project } from './find-project.ts'
import { oldSchemaOf } from './old-schema.ts'
import { type ProtoService, type ProtoText, readProtoText } from './protos.ts'
import { merge } from '../../../config/file/read-data.ts'

/** Calls of the builder that have their setting here, by what they are given. */
const SETTINGS: Readonly<Record<string, (given: string) => Values>> = {
  enable_health_checks: () => ({ server: { livenessPath: '/health', readinessPath: '/ready' } }),
  enable_metrics: () => ({ metrics: true }),
  enable_tracing: () => ({ tracing: true }),
  disable_introspection: () => ({ graphql: { introspection: false } }),
  with_persisted_queries: () => ({ apq: true }),
  with_query_depth_limit: (given) => ({ graphql: { limits: { maxDepth: numberIn(given) } } }),
  with_response_cache: (given) => ({
    responseCache: filled({
      maxSize: numberIn(memberOf(given, 'max_size')),
      defaultTtlMs: durationIn(memberOf(given, 'default_ttl')),
      staleWhileRevalidateMs: durationIn(memberOf(given, 'stale_while_revalidate')),
      invalidateOnMutation: /false/.test(memberOf(given, 'invalidate_on_mutation')) ? false : undefined,
    }),
    redisUrl: /"([^"]*)"/.exec(memberOf(given, 'redis_url'))?.[1],
  }),
  enable_federation: () => ({ federation: true }),
  serve: (given) => ({ server: serverAt(/"([^"]*)"/.exec(given)?.[1] ?? '') }),
}

/** Calls that are read elsewhere, or change nothing for clients. */
const OWN_WAYS =
  /^(with_descriptor_set_\w+|add_grpc_clients?|with_services|with_header_propagation|with_graceful_shutdown|with_shutdown\w*|with_compression|with_high_performance|with_request_collapsing|with_circuit_breaker|add_descriptor_set_\w+|build|await)$/

const ELSEWHERE: Readonly<Record<string, string>> = {
  add_middleware:
    'middleware cannot be converted; use rateLimit, auth.jwt and log, and write the rest as a plugin',
  add_rest_connector: 'configure the REST source in rest',
  with_entity_resolver:
    'code cannot be converted; the gateway resolves entities with the gRPC methods that take their keys',
  with_error_handler:
    'code cannot be converted; the gateway logs errors, and any other error handling needs a plugin',
  with_query_complexity_limit:
    'this gateway computes the cost of an operation with other weights; set a limit in cost.max',
  with_query_whitelist: 'register documents in persistedDocuments',
  with_query_cost_config:
    'this gateway computes the cost of an operation with other weights; set cost.max and cost.fields',
}

/** Reads a `main.rs`: what the builder of the gateway is told. */
function readRustCode(code: string): GatewayCode {
  const text = withConstants(withoutComments(code))
  const notes: Note[] = []
  const endpoints = new Map<string, string>()
  const forwarded: string[] = []
  let settings: Values = {}
  let services: Set<string> | undefined
  /** Services that have a client: no other can be called. */
  const called = new Set<string>()
  const clients = clientsIn(text)
  const [, second] = text.matchAll(/\bGateway::builder\(\)/g)
  if (second)
    notes.push({
      line: lineAt(text, second.index),
      text: 'the code builds more than one gateway; the new config contains the sources of all of them, so write one config for each gateway',
    })
  for (const { name, given, at } of callsOfBuilder(text)) {
    const note = (what: string): void => void notes.push({ line: lineAt(text, at), text: `${name}: ${what}` })
    const strings = [...given.matchAll(/"([^"]*)"/g)].map(([, one = '']) => one)
    if (name === 'add_grpc_client' || name === 'add_grpc_clients') {
      for (const [service, address] of clientsOf(given, clients)) {
        called.add(service)
        if (address === undefined)
          note(`found no literal address of ${service} in the code; set the address in endpoint or endpoints`)
        else endpoints.set(service, address)
      }
    } else if (name === 'with_services') {
      if (strings.length > 0) services = new Set([...(services ?? []), ...strings])
      else
        note(
          'the call contains no literal service names; to exclude services that the old gateway did not serve, set methods: { "package.Service.Method": { schema: false } } for each of their methods',
        )
    } else if (name === 'with_header_propagation') {
      forwarded.push(...strings.map((one) => one.toLowerCase()))
      if (/common\(|all_headers|with_prefix/.test(given))
        note('the code does not contain all header names; list each header in forwardHeaders')
    } else if (SETTINGS[name]) settings = merge(settings, SETTINGS[name](given)) as Values
    else if (!OWN_WAYS.test(name))
      note(ELSEWHERE[name] ?? 'this setting has no equivalent; write a plugin if you need it')
  }
  if (called.size > 0) services ??= called
  return { services, endpoints, forwarded, settings: filled(settings), notes }
}

/** The calls in a chain from `Gateway::builder()`, and on what holds it. */
function callsOfBuilder(text: string) {
  const calls: { readonly name: string; readonly given: string; readonly at: number }[] = []
  for (const { index } of text.matchAll(/\bGateway::builder\(\)/g)) {
    let at = index + 'Gateway::builder()'.length
    for (let next; (next = /^[\s?]*\.\s*(\w+)\s*(\()?/.exec(text.slice(at)));) {
      const [whole, name = '', open] = next
      const given = open ? inBrackets(text, at + whole.length - 1) : ''
      calls.push({ name, given, at: at + whole.indexOf(name) })
      at += whole.length + (open ? given.length + 1 : 0)
    }
  }
  for (const match of text.matchAll(
    /\b(?:builder|gateway)\s*\.\s*((?:with|add|enable|disable)_\w+|serve)\(/g,
  )) {
    const at = match.index + match[0].length - 1
    calls.push({ name: match[1] as string, given: inBrackets(text, at), at })
  }
  return calls
}

/** `let client = GrpcClient::builder("http://…")`: addresses by their variables. */
function clientsIn(text: string): ReadonlyMap<string, string> {
  const made = /let\s+(?:mut\s+)?(\w+)(?:\s*:\s*\w+)?\s*=\s*GrpcClient::\w+\(\s*(?:format!\()?"([^"]*)"/g
  return new Map([...text.matchAll(made)].map(([, name = '', address = '']) => [name, address]))
}

/** `"users.UserService", client` and lists of such pairs. */
function clientsOf(
  given: string,
  clients: ReadonlyMap<string, string>,
): readonly (readonly [service: string, address: string | undefined])[] {
  const pairs =
    /"([\w.]+)"(?:\.to_string\(\)|\.into\(\))?\s*,\s*(?:GrpcClient::\w+\(\s*(?:format!\()?"([^"]*)"|(\w+))/g
  return [...given.matchAll(pairs)].map(([, service = '', address, variable = '']) => [
    service,
    address ?? clients.get(variable),
  ])
}

/** `const ADDR: &str = "…"` where it is used, in `format!` too. */
function withConstants(text: string): string {
  const constants = [...text.matchAll(/\bconst\s+(\w+)\s*:\s*&(?:'static\s+)?str\s*=\s*"([^"]*)"/g)]
  return constants.reduce(
    (all, [, name = '', value = '']) =>
      all
        .replaceAll(`{${name}}`, value)
        .replaceAll(new RegExp(`(?<=[(,]\\s*)${name}\\b(\\.to_string\\(\\))?`, 'g'), `"${value}"`),
    text,
  )
}

/** What stands behind `name:` in a struct. */
function memberOf(given: string, name: string): string {
  return new RegExp(`\\b${name}\\s*:\\s*([^]*?)(?:,\\s*(?=\\w+\\s*:)|\\}|$)`).exec(given)?.[1] ?? ''
}

function numberIn(given: string): number | undefined {
  const [digits] = /\d[\d_]*/.exec(given) ?? []
  return digits === undefined ? undefined : Number(digits.replaceAll('_', ''))
}

function durationIn(given: string): number | undefined {
  const [, unit = '', digits = ''] = /from_(secs|millis)\(\s*([\d_]+)/.exec(given) ?? []
  return unit === '' ? undefined : Number(digits.replaceAll('_', '')) * (unit === 'secs' ? 1000 : 1)
}

const MIDDLEWARE =
  'middleware cannot be converted; list the headers that it forwards in forwardHeaders, and write the rest as a plugin'

/** Reads a `main.go`: which services it registers, where they are, and where it listens itself. */
function readGoCode(code: string): GatewayCode {
  const text = withoutComments(code)
  const notes: Note[] = []
  const note = (at: number, what: string): void => void notes.push({ line: lineAt(text, at), text: what })
  const connections = connectionsIn(text)
  const services = new Set<string>()
  const endpoints = new Map<string, string>()
  for (const match of text.matchAll(/\bRegister(\w+?)Graphql(?:Handler)?\(/g)) {
    const [, service = ''] = match
    services.add(service)
    const [, connection = 'nil'] = inBrackets(text, match.index + match[0].length - 1).split(',')
    if (connection.trim() === 'nil') continue
    const address = connections.get(connection.trim())
    if (address === undefined)
      note(
        match.index,
        `${service}: found no literal address of the service in the code; set the address in endpoint or endpoints`,
      )
    else endpoints.set(service, address)
  }
  for (const match of text.matchAll(/\.NewServeMux\(|\.Use\(/g)) {
    const given = inBrackets(text, match.index + match[0].length - 1).trim()
    const others = given.replaceAll(/\b\w+\.Cors\(\)\s*,?/g, '').trim()
    if (others !== given) note(match.index, 'Cors(): list the allowed origins in graphql.cors')
    if (others !== '' && /runtime|mux/i.test(text.slice(match.index - 20, match.index)))
      note(match.index, `${others.replaceAll(/\s+/g, ' ').slice(0, 60)}: ${MIDDLEWARE}`)
  }
  for (const match of text.matchAll(/\.ErrorHandler\s*=/g))
    note(
      match.index,
      'ErrorHandler: code cannot be converted; the gateway logs errors, and any other error handling needs a plugin',
    )
  const [, listens] = /\bListenAndServe(?:TLS)?\(\s*"([^"]*)"/.exec(text) ?? []
  const [, path] = /\.Handle(?:Func)?\(\s*"([^"]*)"\s*,\s*\w*mux/i.exec(text) ?? []
  return {
    services: services.size === 0 ? undefined : services,
    endpoints,
    forwarded: [],
    settings: filled({
      server: listens === undefined ? undefined : serverAt(listens),
      graphql: filled({ path: path === '/graphql' ? undefined : path }),
    }),
    notes,
  }
}

/** `conn, err := grpc.Dial("users:50051", …)`: addresses by their variables. */
function connectionsIn(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const match of text.matchAll(/(\w+)\s*,\s*\w+\s*:?=\s*grpc\.(?:Dial|DialContext|NewClient)\(/g)) {
    const given = inBrackets(text, match.index + match[0].length - 1)
    const [, address] = /^\s*(?:\w+(?:\.\w+\(\))?\s*,\s*)?"([^"]*)"/.exec(given) ?? []
    if (address !== undefined)
      found.set(match[1] as string, /TLS|Cert/.test(given) ? `https://${address}` : address)
  }
  return found
}

/** Reads a project of the Go and Rust gateways of these annotations. Throws {@link ConfigError} where its protos cannot be read. */
export async function readProject(project: Project, directory: string): Promise<Migration> {
  const { language, code } = project
  const read = !code ? NO_CODE : language === 'go' ? readGoCode(code.text) : readRustCode(code.text)
  const all = [...project.protos].map(([path, text]) => readProtoText(path, text))
  const isServed = ({ name }: ProtoService): boolean => named(read.services, name)
  const served = all.filter(({ services }) => services.some(isServed))
  const protos = served.length > 0 ? served : all
  const left = protos.flatMap(({ services }) => services.filter((service) => !isServed(service)))
  const dialect = language === 'go' ? goDialect(goPackages(all)) : RUST
  const given = filled({
    ...(await filesOf(protos, directory)),
    ...endpointsOf(
      protos.flatMap(({ services }) => services.filter(isServed)),
      read,
      language,
    ),
    fieldNames: project.isCamel ? undefined : 'proto',
    int64: language === 'go' ? 'number-when-safe' : undefined,
    methods: methodsOf(protos, left, language),
  })
  const source = nameOf(relative(directory, protos[0]?.path ?? 'api'))
  const bare = await schemaOf(source, given, directory)
  const draft = filled({ ...given, typeNames: knownMessages(bare, (message) => message) })
  const schema = draft['typeNames'] ? await schemaOf(source, draft, directory) : bare
  const hasBytes = language === 'rust' && schema.getType('Bytes') !== undefined
  const asOld = hasBytes ? await schemaOf(source, { ...draft, uploads: true }, directory) : schema
  const old = oldSchemaOf(asOld, dialect)
  return {
    from: dialect.product,
    config: filled({
      ...read.settings,
      grpc: {
        [source]: {
          ...draft,
          ...(asOld.getType('Upload') ? { uploads: true } : {}),
          ...namesFor(asOld, old.names, dialect),
          // By default some are.
          forwardHeaders: read.forwarded,
        },
      },
    }),
    notes: [
      ...read.notes.map((note) => ({ ...note, file: code && relative(directory, code.file) })),
      ...protos.flatMap((proto) => notesOn(proto, language, relative(directory, proto.path))),
    ],
    schema: old.schema,
  }
}

/** Whether a list names a service, in full or by its last part; undefined: it names all. */
function named(names: ReadonlySet<string> | undefined, service: string): boolean {
  return names === undefined || names.has(service) || names.has(service.replace(/^.*\./, ''))
}

function goPackages(protos: readonly ProtoText[]): ReadonlyMap<string, string> {
  return new Map(
    protos.map(({ package: name, goPackage }) => [
      name,
      goPackage === undefined ? name : goPackageName(goPackage),
    ]),
  )
}

async function filesOf(protos: readonly ProtoText[], directory: string): Promise<Record<string, unknown>> {
  const roots = await Promise.all(protos.map(({ path }) => findProtoRoots(path, directory)))
  return {
    protoFiles: protos.map(({ path }) => relative(directory, path)),
    includePaths: [...new Set(roots.flatMap(({ includePaths }) => includePaths))],
  }
}

/** One address for all services, or one for each, as the code says it, else the annotation. */
function endpointsOf(
  services: readonly ProtoService[],
  { endpoints }: GatewayCode,
  language: Project['language'],
): Record<string, unknown> {
  const addresses = new Map<string, string>()
  for (const { name, host, isInsecure } of services) {
    const given = endpoints.get(name) ?? endpoints.get(name.replace(/^.*\./, ''))
    const isComplete = isInsecure || language === 'go' || /^https?:\/\//.test(host ?? '')
    const annotated = host === undefined ? 'localhost:50051' : isComplete ? host : `https://${host}`
    addresses.set(name, (given ?? annotated).replace(/^http:\/\//, '').replace(/\/$/, ''))
  }
  const [one, ...others] = new Set(addresses.values())
  return others.length === 0 ? { endpoint: one } : { endpoints: Object.fromEntries(addresses) }
}

/** What a method is besides what its annotation says here. */
function methodsOf(
  protos: readonly ProtoText[],
  left: readonly ProtoService[],
  language: Project['language'],
): Record<string, object> {
  const methods: Record<string, object> = {}
  for (const service of protos.flatMap(({ services }) => services))
    for (const { name, type, wrapsRequest } of service.methods) {
      const id = `${service.name}.${name}`
      if (left.includes(service)) methods[id] = { schema: false }
      else if (language === 'rust' && type === 'RESOLVER') methods[id] = { schema: { type: 'QUERY' } }
      else if (language === 'go' && type !== 'MUTATION' && wrapsRequest)
        methods[id] = { schema: { request: { name: '' } } }
      else if (language === 'go' && type === 'SUBSCRIPTION') methods[id] = { schema: false }
    }
  return methods
}

async function schemaOf(
  name: string,
  draft: Record<string, unknown>,
  directory: string,
): Promise<GraphQLSchema> {
  return grpcSchemaOf({ ...draft, name, federation: false }, directory).catch((error: unknown) => {
    const files = draft['protoFiles'] as string[]
    const fix =
      files.length > 1
        ? `\nif the files belong to several gateways, pass one of the files: --from ${files[0]}`
        : ''
    throw new ConfigError(`--from: ${messageOf(error)}${fix}`, { cause: error })
  })
}

/** The names that clients know: a prefix where most types have one, and each other type by itself. */
function namesFor(
  schema: GraphQLSchema,
  names: ReadonlyMap<string, string>,
  { scalars }: Dialect,
): Record<string, unknown> {
  const counts = new Map<string, number>()
  for (const [own, old] of names)
    if (old.endsWith(own) && isObjectType(schema.getType(own))) {
      const prefix = old.slice(0, -own.length)
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1)
    }
  const [[prefix] = ['']] = [...counts].toSorted(([, a], [, b]) => b - a)
  const integers = Object.entries(scalars).filter(
    ([own, old]) => /^(Long|UInt32|Bytes)$/.test(own) && schema.getType(own) && old !== own,
  )
  const others = [...names].filter(([own, old]) => old !== prefix + own)
  return filled({
    prefix: prefix === '' ? undefined : { types: prefix },
    rename: Object.fromEntries([...integers, ...others]),
  })
}

function notesOn(
  { services, wrappers, resolved }: ProtoText,
  language: Project['language'],
  file: string,
): readonly Note[] {
  const plain = services.filter(
    ({ host, isInsecure }) => host !== undefined && !isInsecure && !/^https?:/.test(host),
  )
  return [
    ...plain.map(({ name }) => ({
      line: undefined,
      text:
        language === 'go'
          ? `${name}: the annotation does not show whether the server uses TLS; if the server uses TLS, endpoint must start with https://`
          : `${name}: insecure is not set in the annotation, so the gateway uses TLS unless the code contains an address without https://; if the server does not use TLS, remove https:// from endpoint`,
    })),
    ...wrappers.map(({ name, line }) => ({
      line,
      text: `${name}: the field is now a value or null; before, it was an object with the field value`,
    })),
    ...resolved.map(({ name, line }) => ({
      line,
      text:
        language === 'go'
          ? `${name}: clients can no longer send the arguments that the parent object provides`
          : `${name}: the gateway now loads this field with the method in its resolver annotation`,
    })),
  ].map((note) => ({ ...note, file }))
}
