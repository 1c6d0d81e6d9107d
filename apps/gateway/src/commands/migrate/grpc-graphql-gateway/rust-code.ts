import { merge } from '../../../config/file/read-data.ts'
import { filled, type Note, type Values } from '../migration.ts'
import { type GatewayCode, inBrackets, lineAt, serverAt, withoutComments } from './code.ts'

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
export function readRustCode(code: string): GatewayCode {
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

interface BuilderCall {
  readonly name: string
  readonly given: string
  readonly at: number
}

/** The calls in a chain from `Gateway::builder()`, and on what holds it. */
function callsOfBuilder(text: string): readonly BuilderCall[] {
  const calls: BuilderCall[] = []
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
