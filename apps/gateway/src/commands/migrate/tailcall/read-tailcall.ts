import { type DocumentNode, type FieldDefinitionNode, print } from 'graphql'
import { bareType } from '../../against/coordinates-of.ts'
import { schemaForClients } from '../../against/read-old-schema.ts'
import { filled, type Migration, nearby, Unsaid } from '../migration.ts'
import { directiveOf, directivesOf, OldDocument, type OldDirective } from '../old-document.ts'
import { RestDrafts, queryOf, type RestCall, type Taken } from '../rest-draft.ts'
import type { Place } from '../sdl-types.ts'
import { readSettings, type Upstream, pairs } from './settings.ts'
import { isRecord } from '@vinyasa/core'
import { toCamelCase } from '../../../config/file/specification-names.ts'
import { headerOf, toTemplate, wholeArgument, wholeParent, type Speech, toBody } from './templates.ts'

/** A field and the directive that says where it comes from. */
interface TailcallField {
  readonly type: string
  readonly field: FieldDefinitionNode
  readonly name: string
  readonly directive: OldDirective
}

/** What templates of a field may speak of. */
function speechOf({ field }: TailcallField, { vars }: Upstream): Speech {
  const taken: Taken = { args: new Set(), parents: new Map() }
  return {
    vars,
    taken,
    forwarded: new Set(),
    args: new Set((field.arguments ?? []).map(({ name }) => name.value)),
  }
}

/** Adds the endpoint of an `@http`. Throws {@link Unsaid}. */
function addRestCall(call: TailcallField, drafts: RestDrafts, upstream: Upstream): void {
  const { type: parent, field, name, directive } = call
  const { args } = directive
  const speech = speechOf(call, upstream)
  for (const option of ['onRequest', 'onResponseBody'])
    if (args[option] !== undefined)
      throw new Unsaid(
        `${option} has no equivalent; write an interceptor or transformer in a TypeScript config`,
      )
  const [address, search] = addressOf(args, upstream, speech)
  const { baseUrl, path } = splitAddress(address, upstream)
  const source = sourceName(baseUrl, upstream)
  const query = [
    ...queryOf(search),
    ...pairs(args['query']).map(([name, value]) => [name, toTemplate(value, speech)] as const),
  ]
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
    body: requestBodyOf(args, speech),
    taken: speech.taken,
    responsePath: selectOf(args['select']),
    ...(key && { batch: { key: key.join('.'), maxBatchSize: upstream.maxBatchSize } }),
  }
  const settings = { baseUrl, cacheSize: upstream.cacheSize }
  drafts.open(source, settings, [...upstream.forwarded, ...speech.forwarded])
  drafts.add(source, endpoint)
}

function addressOf(
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
function sourceName(address: string, { name }: Upstream): string {
  const host = /^\w+:\/\/([a-z][\w-]*)(?=[.:/]|$)/i.exec(address)?.[1] ?? ''
  const port = /:(\d+)/.exec(address.slice(8))?.[1]
  const isLocal = host === '' || host === 'localhost'
  const named = (isLocal ? `${name}${port === undefined ? '' : `_${port}`}` : host).replaceAll(/\W/g, '_')
  return /^[a-z]/i.test(named) ? named : `api_${named}`
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

function requestBodyOf({ body }: OldDirective['args'], speech: Speech): RestCall['body'] {
  if (body === undefined || body === null) return undefined
  const arg = wholeArgument(body)
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

interface Draft {
  readonly endpoint: string
  readonly methods: Record<string, object>
  readonly joins: object[]
  readonly metadata: Record<string, string>
  readonly rename: Record<string, string>
  readonly forwarded: Set<string>
}

/** gRPC sources that are being written: one for each server. */
class GrpcDrafts {
  readonly #old: OldDocument
  readonly #upstream: Upstream
  readonly #drafts = new Map<string, Draft>()

  constructor(old: OldDocument, upstream: Upstream) {
    this.#old = old
    this.#upstream = upstream
  }

  /** Adds what an `@grpc` says. Throws {@link Unsaid}. */
  add(call: TailcallField): void {
    const { type, name, directive } = call
    const { args } = directive
    const address = String(args['url'] ?? args['baseURL'] ?? this.#upstream.baseUrl ?? '')
    const method = String(
      args['service'] === undefined ? args['method'] : `${String(args['service'])}.${String(args['method'])}`,
    )
    const endpoint = toTemplate(address, speechOf(call, this.#upstream))
    if (endpoint === '') throw new Unsaid('@grpc has no server address; set url, or baseURL in @upstream')
    const root = this.#old.roots.get(type)
    const body = bodyOf(args['body'])
    const batchKey = (args['batchKey'] ?? args['groupBy']) as readonly string[] | undefined
    const join = root === undefined ? joinOf(call, method, body, batchKey) : undefined
    const draft = this.#open(endpoint)
    for (const [key, value] of pairs(args['headers']))
      if (headerOf(value)?.toLowerCase() === key.toLowerCase()) draft.forwarded.add(key.toLowerCase())
      else draft.metadata[key] = toTemplate(value, speechOf(call, this.#upstream))
    if (join) {
      const { maxBatchSize } = this.#upstream
      draft.joins.push({ ...join, ...(join.batch && { batch: filled({ ...join.batch, maxBatchSize }) }) })
      return
    }
    if (batchKey) throw new Unsaid('fields of root types cannot be batched; remove batchKey or groupBy')
    if (method in draft.methods)
      throw new Unsaid(
        `another root field already uses the method ${method}; each method can have only one root field, so write a resolver for the other`,
      )
    const whole = wholeArgument(body)
    for (const [member, value] of Object.entries(typeof body === 'object' && body !== null ? body : {})) {
      const arg = wholeArgument(value)
      if (arg === undefined)
        throw new Unsaid(
          `body: the value of ${member} must be exactly one argument, such as {{.args.id}}; write a resolver for other requests`,
        )
      const own = toCamelCase(member)
      if (own !== arg) draft.rename[`${root ?? 'Query'}.${name}(${own}:)`] = arg
    }
    draft.methods[method] = {
      schema: filled({
        type: root === 'Mutation' ? 'MUTATION' : 'QUERY',
        name,
        request: whole === undefined ? undefined : { name: whole },
      }),
    }
  }

  write(): Record<string, object> {
    const { protoFiles, reflected } = this.#upstream
    return Object.fromEntries(
      [...this.#drafts].map(([name, { endpoint, methods, joins, metadata, rename, forwarded }]) => [
        name,
        {
          endpoint: endpoint.replace(/^http:\/\//, '').replace(/\/$/, ''),
          ...(reflected.has(endpoint)
            ? { reflection: true }
            : filled({ protoFiles: protoFiles.map(nearby) })),
          // By default some are.
          forwardHeaders: [...forwarded].toSorted(),
          ...filled({ metadata: filled({ static: metadata }), methods, joins, rename }),
        },
      ]),
    )
  }

  #open(endpoint: string): Draft {
    const name = sourceName(endpoint, this.#upstream)
    const known = this.#drafts.get(name)
    if (known) return known
    const draft: Draft = {
      endpoint,
      methods: {},
      joins: [],
      metadata: {},
      rename: {},
      forwarded: new Set(this.#upstream.forwarded),
    }
    this.#drafts.set(name, draft)
    return draft
  }
}

/** A field of a type: what the request takes of the parent. Throws {@link Unsaid}. */
function joinOf(
  { type, name, field }: TailcallField,
  method: string,
  body: unknown,
  batchKey: readonly string[] | undefined,
): { readonly batch?: object } {
  const taken = Object.entries(typeof body === 'object' && body !== null ? body : {})
  if (!batchKey) {
    const request = taken.map(([member, value]) => [member, wholeParent(value)] as const)
    const wrong = request.find(([, parent]) => parent === undefined)
    if (wrong || request.length === 0)
      throw new Unsaid(
        'body must be an object with at least one value, and each value must be exactly one field of the parent, such as {{.value.id}}; write a resolver for other requests',
      )
    return { type, field: name, method, request: Object.fromEntries(request) } as { readonly batch?: object }
  }
  const [keys, parentKey] = keysOf(taken)
  const [items = '', ...itemKey] = batchKey
  const many = print(field.type).startsWith('[') ? true : undefined
  const batch = { method, keys, items, parentKey, itemKey: itemKey.join('.'), many }
  return { type, field: name, batch: filled(batch) } as { readonly batch: object }
}

/** `{ ids: ["{{.value.id}}"] }` and `{ ids: [{ id: "{{.value.id}}" }] }`: the path to the keys, and the parent's field. */
function keysOf(taken: readonly (readonly [string, unknown])[]): readonly [keys: string, parentKey: string] {
  const [[list, value] = ['', undefined], ...more] = taken
  const [item, ...further] = [value].flat() as unknown[]
  const isOne = more.length === 0 && further.length === 0
  const own = isOne ? wholeParent(item) : undefined
  if (own !== undefined) return [list, own]
  if (isOne && isRecord(item)) {
    const [[inner, template] = ['', undefined], ...others] = Object.entries(item)
    const parent = wholeParent(template)
    if (others.length === 0 && parent !== undefined) return [`${list}.${inner}`, parent]
  }
  throw new Unsaid('a batched request needs a body with one list of keys, such as { ids: ["{{.value.id}}"] }')
}

/** Bodies are data, or the text of it. */
function bodyOf(body: unknown): unknown {
  if (typeof body !== 'string' || wholeArgument(body) !== undefined) return body
  try {
    return JSON.parse(body.replaceAll(/(?<!")(\{\{[^{}]*\}\})(?!")/g, '"$1"'))
  } catch {
    return body
  }
}

/** Directives that have no counterpart, and where theirs is said. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  cache: 'set responseCache; this gateway caches complete responses, and mutations evict them',
  call: 'put the request (@http or @grpc) on the field itself, or write a resolver',
  expr: 'write a resolver in a TypeScript config',
  graphQL: 'GraphQL sources are not supported',
  js: 'write a resolver in a TypeScript config',
  protected: 'set access.fields and auth',
  rest: 'the gateway does not serve operations as REST endpoints; clients must send them as GraphQL requests',
}

/** A configuration of Tailcall in SDL. */
export class Tailcall {
  readonly #old: OldDocument
  readonly #upstream: Upstream
  readonly #settings: Record<string, unknown>
  readonly #rest: RestDrafts
  readonly #grpc: GrpcDrafts
  /** Fields that are in no JSON of their type. */
  readonly #elsewhere = new Set<string>()
  /** Fields that clients do not see. */
  readonly #hidden: string[] = []
  /** Types that are made of messages. */
  readonly #messages = new Set<string>()

  constructor(parsed: DocumentNode, name: string) {
    this.#old = new OldDocument(parsed)
    const { upstream, settings } = readSettings(this.#old, name)
    this.#upstream = upstream
    this.#settings = settings
    this.#rest = new RestDrafts(this.#old, nameOf)
    this.#grpc = new GrpcDrafts(this.#old, upstream)
  }

  read(): Migration {
    for (const [{ name }, field] of this.#old.allFields()) this.#readField(name.value, field)
    for (const type of this.#old.types.values())
      for (const { name, line } of directivesOf(type))
        if (name in ELSEWHERE) this.#old.note(line, `${type.name.value}: @${name}: ${ELSEWHERE[name]}`)
    const added = new Map([...this.#old.types.keys()].map((type) => [type, this.#added(type)] as const))
    const words = {
      placeOf: (type: string, field: FieldDefinitionNode) => this.#placeOf(type, field),
      more: (type: string) => added.get(type) ?? {},
    }
    const rest = this.#rest.write(words, this.#messages)
    for (const [, source] of Object.entries(rest)) {
      const types = Object.keys((source as { readonly types?: object }).types ?? {})
      const hide = this.#hidden.filter((coordinate) => types.includes(coordinate.replace(/\..*/, '')))
      if (hide.length > 0) Object.assign(source, { hide })
    }
    return {
      from: 'Tailcall',
      config: filled({ ...this.#settings, rest, grpc: this.#grpc.write() }),
      notes: this.#old.notes,
      schema: schemaForClients(this.#old.document),
    }
  }

  #readField(type: string, field: FieldDefinitionNode): void {
    const name = nameOf(field)
    const coordinate = `${type}.${field.name.value}`
    const directives = directivesOf(field)
    const leftOut = (line: number | undefined, text: string): void =>
      this.#old.note(line, `${coordinate}: ${text}`)
    for (const { name: directive, line } of directives)
      if (directive in ELSEWHERE) leftOut(line, `@${directive}: ${ELSEWHERE[directive]}`)
    const http = directives.filter((one) => one.name === 'http' || one.name === 'grpc')
    const isRoot = this.#old.roots.has(type)
    const isMade =
      http.length > 0 || isRoot || directives.some((one) => /^(call|expr|graphQL|js)$/.test(one.name))
    if (isMade) this.#elsewhere.add(coordinate)
    if (isHidden(field) && isMade) return
    if (isHidden(field)) this.#hidden.push(`${type}.${name}`)
    const [first, second] = http
    if (!first) {
      if (isRoot && !directives.some((one) => one.name in ELSEWHERE))
        leftOut(
          field.loc?.startToken.line,
          'this field has no @http or @grpc directive; add one, or write a resolver',
        )
      return
    }
    if (second)
      leftOut(second.line, 'a field can have only one request; the directives after the first are ignored')
    this.#old.attempt(first.line, coordinate, () => this.#addCall(type, field, name, first))
  }

  #addCall(type: string, field: FieldDefinitionNode, name: string, directive: OldDirective): void {
    const call = { type, field, name, directive }
    if (directive.name === 'http') return addRestCall(call, this.#rest, this.#upstream)
    this.#grpc.add(call)
    this.#addMessage(bareType(print(field.type)))
  }

  /** What a message holds is made of messages, too. */
  #addMessage(type: string): void {
    if (this.#messages.has(type) || !this.#old.types.has(type)) return
    this.#messages.add(type)
    for (const field of this.#old.fieldsOf(type))
      if (!directivesOf(field).some(({ name }) => name === 'http'))
        this.#addMessage(bareType(print(field.type)))
  }

  #placeOf(type: string, field: FieldDefinitionNode): Place | undefined {
    const own = field.name.value
    return this.#elsewhere.has(`${type}.${own}`) ? undefined : { name: nameOf(field), key: own }
  }

  /** `@addField(name: "street", path: ["address", "street"])` is a field with a path for its key. */
  #added(type: string): Record<string, object> {
    const node = this.#old.types.get(type)
    const found: Record<string, object> = {}
    for (const { name, args, line } of node ? directivesOf(node) : []) {
      if (name !== 'addField') continue
      const path = [args['path'] ?? []].flat().map(String)
      const field = this.#fieldAt(type, path)
      if (field) found[String(args['name'])] = { type: print(field.type), key: path.join('.') }
      else
        this.#old.note(
          line,
          `${type}.${String(args['name'])}: the path "${path.join('.')}" of @addField must contain only known fields of the same response; correct the path, or write a resolver`,
        )
    }
    return found
  }

  #fieldAt(type: string, path: readonly string[]): FieldDefinitionNode | undefined {
    let field: FieldDefinitionNode | undefined
    let within = type
    for (const part of path) {
      field = this.#old.fieldsOf(within).find(({ name }) => name.value === part)
      if (!field || this.#elsewhere.has(`${within}.${part}`)) return undefined
      within = bareType(print(field.type))
    }
    return field
  }
}

function nameOf(field: FieldDefinitionNode): string {
  const { name } = directiveOf(field, 'modify')?.args ?? {}
  return typeof name === 'string' ? name : field.name.value
}

function isHidden(field: FieldDefinitionNode): boolean {
  return directiveOf(field, 'omit') !== undefined || directiveOf(field, 'modify')?.args['omit'] === true
}
