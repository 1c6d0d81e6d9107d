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

/** Alternative lists of schemes with their scopes. All schemes of one list are required. */
type Requirements = readonly (readonly (readonly [scheme: string, scopes: readonly string[]])[])[]

interface Scheme {
  readonly name: string
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
    for (const { name, header } of schemes.values())
      if (header === undefined)
        refused.set(name, 'credentials in query parameters and cookies cannot be forwarded')
    const headers = [...schemes.values()].flatMap(({ header }) => header?.toLowerCase() ?? [])
    return { ...none, forwardHeaders: [...new Set(headers)] }
  }
  const valueOf = (variable: string): string | undefined => place.env[variable] || undefined
  const isMet = (name: string): boolean =>
    schemes.get(name)?.variables.every((variable) => valueOf(variable) !== undefined) ?? false
  const missed = new Set(
    [...required.values()]
      .filter(
        (alternatives) => !alternatives.some((all) => all.length > 0 && all.every(([name]) => isMet(name))),
      )
      .flat(2)
      .map(([name]) => name),
  )
  const wanted = [...schemes.values()]
  const variables = [...new Set(wanted.flatMap((one) => one.variables))].map((variable): SecurityVariable => {
    const names = wanted.filter((one) => one.variables.includes(variable)).map(({ name }) => name)
    const isSet = valueOf(variable) !== undefined
    return { variable, schemes: names, isSet, isMissed: !isSet && names.some((name) => missed.has(name)) }
  })
  const interceptor = interceptorOf(required, schemes, valueOf)
  return { ...none, interceptors: interceptor ? [interceptor] : [], variables }
}

function requirementsOf(operation: Node, root: Node): Requirements {
  const requirements = asList(operation['security'] ?? root['security']).map((one) =>
    Object.entries(asNode(one)).map(
      ([name, scopes]) => [name, asList(scopes).filter((scope) => typeof scope === 'string')] as const,
    ),
  )
  // An empty requirement makes all other requirements optional, at any position.
  return requirements.toSorted((a, b) => Number(a.length === 0) - Number(b.length === 0))
}

function interceptorOf(
  required: ReadonlyMap<string, Requirements>,
  schemes: ReadonlyMap<string, Scheme>,
  valueOf: (variable: string) => string | undefined,
): RequestInterceptor | undefined {
  // Operations with the same scopes share an interceptor, and therefore a token.
  const made = new Map<string, RequestInterceptor>()
  const secrets = new Set<string>()
  const applyOf = (name: string, scopes: readonly string[]): RequestInterceptor | undefined => {
    const scheme = schemes.get(name)
    const values = scheme?.variables.map(valueOf)
    if (!scheme || !values?.every((value) => value !== undefined)) return undefined
    const key = JSON.stringify([name, scopes])
    const apply = made.get(key) ?? scheme.apply(values, scopes)
    made.set(key, apply)
    for (const value of values) secrets.add(value)
    return apply
  }
  const byEndpoint = new Map<string, readonly RequestInterceptor[]>()
  for (const [endpoint, alternatives] of required)
    for (const alternative of alternatives) {
      const all = alternative.map(([name, scopes]) => applyOf(name, scopes))
      if (!all.every((apply) => apply !== undefined)) continue
      if (all.length > 0) byEndpoint.set(endpoint, all)
      break
    }
  if (byEndpoint.size === 0) return undefined
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
    name,
    variables: [variable('TOKEN')],
    header: 'authorization',
    apply: ([value]) => always('authorization', `Bearer ${value}`),
  }
  switch (node['type']) {
    case 'apiKey':
      // The source's prefix prevents a document from reading variables of other programs.
      return apiKeyOf(name, node, variable(isOneKey ? 'API_KEY' : `API_KEY_${name}`))
    case 'http': {
      const how = asText(node['scheme'])?.toLowerCase()
      if (how === 'bearer') return token
      if (how !== 'basic') return `the HTTP scheme must be basic or bearer, got "${how ?? ''}"`
      const apply: Scheme['apply'] = (values) =>
        always('authorization', `Basic ${Buffer.from(values.join(':')).toString('base64')}`)
      return { name, variables: [variable('USER'), variable('PASSWORD')], header: 'authorization', apply }
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
      return { name, variables, header: 'authorization', apply }
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

function apiKeyOf(scheme: string, node: Node, variable: string): Scheme | string {
  const name = asText(node['name']) ?? ''
  const base = { name: scheme, variables: [variable], header: undefined }
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
