import { withCredential } from '../interceptors/credentials.ts'
import type { RequestInterceptor } from '../interceptors/interceptor.ts'
import { oauth2ClientCredentials } from '../interceptors/oauth2.ts'
import { headerSourcesOf, setHeaders, type HeaderSource } from '../interceptors/set-headers.ts'
import { isHeaderName } from '../templates/header-template.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'

/**
 * The source of credentials for the document's `securitySchemes`. `env`: environment variables. `forward`: the client's
 * headers are forwarded. `false`: the schemes are ignored.
 */
export type SecuritySource = 'env' | 'forward' | false

/** An environment variable for a document's security schemes. */
export interface SecurityVariable {
  readonly variable: string
  /** The schemes' names in the document. */
  readonly schemes: readonly string[]
  readonly isSet: boolean
  /** Whether an operation has no credentials because this variable, or another variable of its requirement, is not set. */
  readonly isMissed: boolean
}

/** The connector settings for a document's security schemes. */
export interface DocumentSecurity {
  readonly interceptors: readonly RequestInterceptor[]
  /** Client headers to forward. */
  readonly forwardHeaders: readonly string[]
  readonly variables: readonly SecurityVariable[]
  /** Reasons for unsupported schemes, by name. */
  readonly refused: ReadonlyMap<string, string>
}

export interface SecurityPlace {
  /** The source's name. */
  readonly source: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The API's address. URLs of token servers can be relative to it. */
  readonly baseUrl: string | undefined
  readonly from: SecuritySource
}

/** Schemes with their scopes, which are all required together. */
type Requirement = readonly (readonly [scheme: string, scopes: readonly string[]])[]

interface Scheme {
  /** The required environment variables. */
  readonly variables: readonly string[]
  /** The header with the credential, or undefined. */
  readonly header: string | undefined
  readonly apply: (values: readonly string[], scopes: readonly string[]) => RequestInterceptor
}

/** Returns the security settings for operations. An operation uses its first requirement with complete credentials. */
export function securityOf(
  document: OpenApiDocument,
  operations: ReadonlyMap<string, Node>,
  place: SecurityPlace,
): DocumentSecurity {
  const refused = new Map<string, string>()
  const none = { interceptors: [], forwardHeaders: [], variables: [], refused }
  if (place.from === false) return none
  const required = new Map([...operations].map(([name, node]) => [name, requirementsOf(node, document.root)]))
  const used = new Set([...required.values()].flat(2).map(([name]) => name))
  const schemes = readSchemes(document, used, place, refused)
  if (place.from === 'forward') {
    for (const [name, { header }] of schemes)
      if (header === undefined)
        refused.set(name, 'credentials in query parameters and cookies cannot be forwarded')
    const headers = [...schemes.values()].flatMap(({ header }) => header?.toLowerCase() ?? [])
    return { ...none, forwardHeaders: [...new Set(headers)] }
  }
  const values = new Map<string, readonly string[]>()
  for (const [name, scheme] of schemes) {
    const given = scheme.variables.map((variable) => place.env[variable] || undefined)
    if (given.every((value) => value !== undefined)) values.set(name, given)
  }
  const met = new Map<string, Requirement>()
  const missed = new Set<string>()
  for (const [endpoint, alternatives] of required) {
    const first = alternatives.find((all) => all.every(([name]) => values.has(name)))
    if (first && first.length > 0) met.set(endpoint, first)
    else for (const [name] of alternatives.flat()) missed.add(name)
  }
  const variables = [...new Set([...schemes.values()].flatMap((one) => one.variables))].map(
    (variable): SecurityVariable => {
      const names = [...schemes].filter(([, one]) => one.variables.includes(variable)).map(([name]) => name)
      const isSet = Boolean(place.env[variable])
      return { variable, schemes: names, isSet, isMissed: !isSet && names.some((name) => missed.has(name)) }
    },
  )
  return { ...none, interceptors: met.size === 0 ? [] : [interceptorOf(met, schemes, values)], variables }
}

function requirementsOf(operation: Node, root: Node): readonly Requirement[] {
  const requirements = asList(operation['security'] ?? root['security']).map((one) =>
    Object.entries(asNode(one)).map(
      ([name, scopes]) => [name, asList(scopes).filter((scope) => typeof scope === 'string')] as const,
    ),
  )
  // An empty requirement makes all other requirements optional, at any position.
  return requirements.toSorted((a, b) => Number(a.length === 0) - Number(b.length === 0))
}

function interceptorOf(
  met: ReadonlyMap<string, Requirement>,
  schemes: ReadonlyMap<string, Scheme>,
  values: ReadonlyMap<string, readonly string[]>,
): RequestInterceptor {
  // Operations with the same scopes share an interceptor, and therefore a token.
  const made = new Map<string, RequestInterceptor>()
  const secrets = new Set<string>()
  const applyOf = ([name, scopes]: Requirement[number]): RequestInterceptor => {
    const given = values.get(name) ?? []
    const key = JSON.stringify([name, scopes])
    const apply = made.get(key) ?? (schemes.get(name) as Scheme).apply(given, scopes)
    made.set(key, apply)
    for (const value of given) secrets.add(value)
    return apply
  }
  const byEndpoint = new Map([...met].map(([endpoint, all]) => [endpoint, all.map(applyOf)]))
  return withCredential(chosen(byEndpoint), JSON.stringify([...secrets]), {})
}

/** Returns an interceptor that applies the credentials of the called endpoint. */
function chosen(byEndpoint: ReadonlyMap<string, readonly RequestInterceptor[]>): RequestInterceptor {
  const sources = new Map<string, HeaderSource>()
  for (const [endpoint, all] of byEndpoint) {
    const [source, ...others] = headerSourcesOf(all) ?? []
    if (!source || others.length > 0)
      return async (request, info) => {
        for (const apply of byEndpoint.get(info.endpoint) ?? []) await apply(request, info)
      }
    sources.set(endpoint, source)
  }
  return setHeaders((info) => sources.get(info.endpoint)?.(info) ?? {})
}

function readSchemes(
  document: OpenApiDocument,
  used: ReadonlySet<string>,
  place: SecurityPlace,
  refused: Map<string, string>,
): ReadonlyMap<string, Scheme> {
  const declared = Object.entries(document.components('securitySchemes')).filter(([name]) => used.has(name))
  const nodes = declared.flatMap(([name, node]) => {
    try {
      return [[name, document.resolve(node)] as const]
    } catch (error) {
      refused.set(name, (error as Error).message)
      return []
    }
  })
  const isOneKey = nodes.filter(([, { type }]) => type === 'apiKey').length === 1
  const schemes = new Map<string, Scheme>()
  for (const [name, node] of nodes) {
    const scheme = schemeOf(name, node, isOneKey, place)
    if (typeof scheme === 'string') refused.set(name, scheme)
    else schemes.set(name, scheme)
  }
  for (const name of used)
    if (!schemes.has(name) && !refused.has(name))
      refused.set(name, 'the document does not define this security scheme')
  return schemes
}

/** Returns the scheme, or the reason for not supporting it. */
function schemeOf(name: string, node: Node, isOneKey: boolean, place: SecurityPlace): Scheme | string {
  const variable = (what: string): string => envName(place.source, what)
  const token: Scheme = {
    variables: [variable('TOKEN')],
    header: 'authorization',
    apply: ([value]) => always('authorization', `Bearer ${value}`),
  }
  switch (node['type']) {
    case 'apiKey':
      // The source's prefix prevents a document from reading variables of other programs.
      return apiKeyOf(node, variable(isOneKey ? 'API_KEY' : `API_KEY_${name}`))
    case 'http': {
      const how = asText(node['scheme'])?.toLowerCase()
      if (how === 'bearer') return token
      if (how !== 'basic') return `the HTTP scheme must be basic or bearer, got "${how ?? ''}"`
      const apply: Scheme['apply'] = (values) =>
        always('authorization', `Basic ${Buffer.from(values.join(':')).toString('base64')}`)
      return { variables: [variable('USER'), variable('PASSWORD')], header: 'authorization', apply }
    }
    case 'oauth2': {
      const tokenUrl = asText(asNode(asNode(node['flows'])['clientCredentials'])['tokenUrl'])
      // Other flows need a person, so the variable contains their token.
      if (tokenUrl === undefined) return token
      if (!URL.canParse(tokenUrl, place.baseUrl))
        return `the tokenUrl "${tokenUrl}" is not an absolute URL and cannot be resolved against baseUrl`
      const url = new URL(tokenUrl, place.baseUrl).href
      const variables = [variable('CLIENT_ID'), variable('CLIENT_SECRET')]
      const apply: Scheme['apply'] = ([clientId = '', clientSecret = ''], scopes) =>
        oauth2ClientCredentials({
          tokenUrl: url,
          clientId,
          clientSecret,
          scope: scopes.join(' ') || undefined,
        })
      return { variables, header: 'authorization', apply }
    }
    case 'openIdConnect':
      return token
    default:
      return `the security scheme type "${String(node['type'])}" is not supported`
  }
}

/** Returns the environment variable of a source: `SHOP_API_KEY` for `apiKey` of `shop`. */
function envName(source: string, what: string): string {
  const words = [source, what].map((text) =>
    text
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, ''),
  )
  return words.join('_').toUpperCase()
}

function apiKeyOf(node: Node, variable: string): Scheme | string {
  const name = asText(node['name']) ?? ''
  const base = { variables: [variable], header: undefined }
  switch (node['in']) {
    case 'header':
      if (!isHeaderName(name)) return `"${name}" is not a valid header name`
      return { ...base, header: name, apply: ([key = '']) => always(name, key) }
    case 'query':
      return {
        ...base,
        apply:
          ([key = '']) =>
          ({ url }) => {
            // `searchParams` would re-encode the rest of the query.
            url.search += `${url.search === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(key)}`
          },
      }
    case 'cookie':
      return {
        ...base,
        apply:
          ([key = '']) =>
          ({ headers }) => {
            const others = headers.get('cookie')
            headers.set('cookie', `${others === null ? '' : `${others}; `}${name}=${encodeURIComponent(key)}`)
          },
      }
    default:
      return `the API key is in "${String(node['in'])}"; expected header, query or cookie`
  }
}

function always(name: string, value: string): RequestInterceptor {
  const headers = { [name]: value }
  return setHeaders(() => headers)
}
