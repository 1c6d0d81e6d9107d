import type { FieldDefinitionNode } from 'graphql'
import { queryOf } from '../query-of.ts'
import { Unsaid } from '../migration.ts'
import type { OldDirective } from '../old-document.ts'
import type { RestCall, RestDrafts, Taken } from '../rest-draft.ts'
import { headerOf, type Speech, toBody, toTemplate, wholeArgument } from './templates.ts'
import { pairs, type Upstream } from './settings.ts'

/** A field and the directive that says where it comes from. */
export interface TailcallField {
  readonly type: string
  readonly field: FieldDefinitionNode
  readonly name: string
  readonly directive: OldDirective
}

/** What templates of a field may speak of. */
export function speechOf({ field }: TailcallField, { vars }: Upstream): Speech {
  const taken: Taken = { args: new Set(), parents: new Map() }
  return {
    vars,
    taken,
    forwarded: new Set(),
    args: new Set((field.arguments ?? []).map(({ name }) => name.value)),
  }
}

/** Adds the endpoint of an `@http`. Throws {@link Unsaid}. */
export function addRestCall(call: TailcallField, drafts: RestDrafts, upstream: Upstream): void {
  const { type: parent, field, name, directive } = call
  const { args } = directive
  const speech = speechOf(call, upstream)
  for (const option of ['onRequest', 'onResponseBody'])
    if (args[option] !== undefined)
      throw new Unsaid(
        `${option} has no equivalent; write an interceptor or transformer in a TypeScript config`,
      )
  const [address, search] = placeOf(args, upstream, speech)
  const { baseUrl, path } = splitAddress(address, upstream)
  const source = sourceName(baseUrl, upstream)
  const query = [...queryOf(search), ...givenQuery(args, speech)]
  const key = (args['batchKey'] ?? args['groupBy']) as readonly string[] | undefined
  if (key && args['body'] !== undefined)
    throw new Unsaid('batches with request bodies are not supported; write a resolver')
  const endpoint: RestCall = {
    parent,
    field,
    name,
    method: String(args['method'] ?? 'GET'),
    path,
    query,
    headers: headersOf(args, speech),
    body: bodyOf(args, speech),
    taken: speech.taken,
    responsePath: selectOf(args['select']),
    ...(key && { batch: { key: key.join('.'), maxBatchSize: upstream.maxBatchSize } }),
  }
  const settings = { baseUrl, cacheSize: upstream.cacheSize }
  drafts.open(source, settings, [...upstream.forwarded, ...speech.forwarded])
  drafts.add(source, endpoint)
}

function placeOf(
  args: OldDirective['args'],
  { baseUrl }: Upstream,
  speech: Speech,
): readonly [string, string] {
  const given = String(
    args['url'] ?? `${String(args['baseURL'] ?? baseUrl ?? '')}${String(args['path'] ?? '')}`,
  )
  const [place = '', search = ''] = given.split(/\?(.*)/s)
  return [toTemplate(place, speech), toTemplate(search, speech)]
}

/** The address of a server, and the path below it. */
function splitAddress(
  address: string,
  { baseUrl }: Upstream,
): { readonly baseUrl: string; readonly path: string } {
  const known = baseUrl?.replace(/\/$/, '')
  if (known && address.startsWith(`${known}/`)) return { baseUrl: known, path: address.slice(known.length) }
  const [, server, path = ''] = /^(https?:\/\/[^/]+|\$\{\w+\})(.*)$/.exec(address) ?? []
  if (server !== undefined) return { baseUrl: server, path }
  if (known && address.startsWith('/')) return { baseUrl: known, path: address }
  throw new Unsaid(
    `"${address}" is not a complete URL; write a URL with http:// or https://, or set baseURL in @upstream to such a URL`,
  )
}

/** `api` of https://api.shop.example; for addresses that say no name, the file's. */
export function sourceName(address: string, { name }: Upstream): string {
  const host = /^\w+:\/\/([a-z][\w-]*)(?=[.:/]|$)/i.exec(address)?.[1] ?? ''
  const port = /:(\d+)/.exec(address.slice(8))?.[1]
  const isLocal = host === '' || host === 'localhost'
  const named = (isLocal ? `${name}${port === undefined ? '' : `_${port}`}` : host).replaceAll(/\W/g, '_')
  return /^[a-z]/i.test(named) ? named : `api_${named}`
}

function givenQuery(args: OldDirective['args'], speech: Speech): readonly (readonly [string, string])[] {
  return pairs(args['query']).map(([name, value]) => [name, toTemplate(value, speech)] as const)
}

/** Headers of a request, but those that are the client's own, which the source forwards. */
function headersOf(args: OldDirective['args'], speech: Speech): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of pairs(args['headers'])) {
    if (headerOf(value)?.toLowerCase() === name.toLowerCase()) speech.forwarded.add(name.toLowerCase())
    else headers[name] = toTemplate(value, speech)
  }
  if (/Form/.test(String(args['encoding']))) headers['content-type'] = 'application/x-www-form-urlencoded'
  return headers
}

function bodyOf({ body }: OldDirective['args'], speech: Speech): RestCall['body'] {
  if (body === undefined || body === null) return undefined
  const arg = typeof body === 'string' ? wholeArgument(body) : undefined
  if (arg === undefined) return { template: toBody(body, speech) }
  speech.taken.args.add(arg)
  return { arg }
}

function selectOf(select: unknown): string | undefined {
  if (select === undefined || select === null) return undefined
  const path = typeof select === 'string' ? /^\{\{\s*\.([\w.]+)\s*\}\}$/.exec(select)?.[1] : undefined
  if (path === undefined)
    throw new Unsaid(
      'select: only a path into the response can be converted, such as "{{.data.users}}"; write a transformer in a TypeScript config',
    )
  return `$.${path}`
}
