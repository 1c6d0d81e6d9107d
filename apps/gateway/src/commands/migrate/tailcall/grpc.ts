import { isRecord } from '@vinyasa/base'
import { type FieldDefinitionNode, print } from 'graphql'
import { toCamelCase } from '../../../config/file/specification-names.ts'
import { filled, nearby, Unsaid } from '../migration.ts'
import type { OldDocument } from '../old-document.ts'
import { sourceName, speechOf, type TailcallField } from './http.ts'
import { pairs, type Upstream } from './settings.ts'
import { headerOf, toTemplate, wholeArgument, wholeParent } from './templates.ts'

interface Draft {
  readonly endpoint: string
  readonly methods: Record<string, object>
  readonly joins: object[]
  readonly metadata: Record<string, string>
  readonly rename: Record<string, string>
  readonly forwarded: Set<string>
}

/** gRPC sources that are being written: one for each server. */
export class GrpcDrafts {
  readonly #old: OldDocument
  readonly #upstream: Upstream
  readonly #drafts = new Map<string, Draft>()

  constructor(old: OldDocument, upstream: Upstream) {
    this.#old = old
    this.#upstream = upstream
  }

  /** Adds what an `@grpc` says. Throws {@link Unsaid}. */
  add(call: TailcallField): void {
    const { type, name, directive, field } = call
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
    const join = root === undefined ? joinOf({ type, name, method, body, batchKey, field }) : undefined
    const draft = this.#open(endpoint)
    for (const [key, value] of pairs(args['headers']))
      if (headerOf(value)?.toLowerCase() === key.toLowerCase()) draft.forwarded.add(key.toLowerCase())
      else draft.metadata[key] = toTemplate(value, speechOf(call, this.#upstream))
    if (join) {
      draft.joins.push(filled({ ...join, ...this.#bounded(join) }))
      return
    }
    if (batchKey) throw new Unsaid('fields of root types cannot be batched; remove batchKey or groupBy')
    if (method in draft.methods)
      throw new Unsaid(
        `another root field already uses the method ${method}; each method can have only one root field, so write a resolver for the other`,
      )
    const whole = typeof body === 'string' ? wholeArgument(body) : undefined
    for (const [member, value] of Object.entries(typeof body === 'object' && body !== null ? body : {})) {
      const arg = typeof value === 'string' ? wholeArgument(value) : undefined
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

  #bounded({ batch }: { readonly batch?: object }): object {
    return batch ? { batch: filled({ ...batch, maxBatchSize: this.#upstream.maxBatchSize }) } : {}
  }
}

interface Join {
  readonly type: string
  readonly name: string
  readonly method: string
  readonly body: unknown
  readonly batchKey: readonly string[] | undefined
  readonly field: FieldDefinitionNode
}

/** A field of a type: what the request takes of the parent. Throws {@link Unsaid}. */
function joinOf({ type, name, method, body, batchKey, field }: Join): { readonly batch?: object } {
  const taken = Object.entries(typeof body === 'object' && body !== null ? body : {})
  if (!batchKey) {
    const request = taken.map(([member, value]) => [member, parentOf(value)] as const)
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
  if (isOne && typeof item === 'string') {
    const parent = parentOf(item)
    if (parent !== undefined) return [list, parent]
  }
  if (isOne && isRecord(item)) {
    const [[inner, template] = ['', undefined], ...others] = Object.entries(item)
    const parent = parentOf(template)
    if (others.length === 0 && parent !== undefined) return [`${list}.${inner}`, parent]
  }
  throw new Unsaid('a batched request needs a body with one list of keys, such as { ids: ["{{.value.id}}"] }')
}

function parentOf(value: unknown): string | undefined {
  return typeof value === 'string' ? wholeParent(value) : undefined
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
