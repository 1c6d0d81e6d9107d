import {
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  print,
  valueFromASTUntyped,
} from 'graphql'
import { bareType } from '../against/coordinates-of.ts'
import { filled, Unsaid } from './migration.ts'
import type { OldDocument } from './old-document.ts'
import { type TypeWords, typesFrom } from './sdl-types.ts'

/** The values that templates of a call take from the field's arguments and from its parent. */
export interface Taken {
  readonly args: Set<string>
  /** Fields of the parent by the argument that takes each. */
  readonly parents: Map<string, string>
}

/** The name of the argument that has a value of the field's own arguments, which are `args`, or of its parent. */
export function take(
  isArgument: boolean,
  name: string,
  { taken, args }: { readonly taken: Taken; readonly args: ReadonlySet<string> },
): string {
  if (isArgument) {
    taken.args.add(name)
    return name
  }
  const arg = args.has(name) ? `${name}OfParent` : name
  taken.parents.set(arg, name)
  return arg
}

/** The request that an old configuration makes for a field, with templates in the words of this gateway. */
export interface RestCall {
  readonly parent: string
  readonly field: FieldDefinitionNode
  /** The name that clients have for the field. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly query: readonly (readonly [string, string])[]
  readonly queryArrayFormat?: 'comma' | undefined
  readonly headers: Readonly<Record<string, string>>
  /** A template, one argument, or nothing. */
  readonly body:
    | { readonly template: string }
    | { readonly arg: string; readonly contentType?: string }
    | undefined
  readonly taken: Taken
  readonly responsePath?: string | undefined
  /** One request for all parents: by what its items are found. */
  readonly batch?: { readonly key: string; readonly maxBatchSize?: number | undefined } | undefined
}

interface Draft {
  readonly settings: Record<string, unknown>
  /** Headers of clients that are sent along. */
  readonly forwarded: Set<string>
  readonly endpoints: Endpoint[]
}

interface Endpoint {
  readonly line: number | undefined
  readonly name: string
  /** The type that it joins a field to; undefined: it is a field of a root type. */
  readonly parent: string | undefined
  readonly target: string
  /** Types of its arguments. */
  readonly used: readonly string[]
  readonly definition: object
  readonly on: readonly JoinedField[]
}

/** A field that an endpoint fills, as `on` has it. */
export interface JoinedField {
  readonly type: string
  readonly field: string
  readonly args: Readonly<Record<string, string>>
}

/** REST sources that are being written. */
export class RestDrafts {
  readonly #document: OldDocument
  readonly #nameOf: (field: FieldDefinitionNode) => string
  readonly #drafts = new Map<string, Draft>()

  /** `nameOf`: the name that clients have for a field. */
  constructor(document: OldDocument, nameOf = (field: FieldDefinitionNode): string => field.name.value) {
    this.#document = document
    this.#nameOf = nameOf
  }

  /** Begins a source, unless it is there, which sends these headers of clients along. */
  open(name: string, settings: Record<string, unknown>, forwarded: Iterable<string>): void {
    const draft = this.#drafts.get(name) ?? {
      settings,
      forwarded: new Set<string>(),
      endpoints: [],
    }
    for (const header of forwarded) draft.forwarded.add(header)
    this.#drafts.set(name, draft)
  }

  /** Adds an endpoint to a source, and `joins`: other fields that it fills. Throws {@link Unsaid}. */
  add(source: string, call: RestCall, joins: Endpoint['on'] = []): void {
    const { parent, field, name, method, taken, batch } = call
    const root = this.#document.roots.get(parent)
    const draft = this.#drafts.get(source) as Draft
    if (root === 'Subscription')
      throw new Unsaid(
        'subscriptions cannot be converted to REST endpoints; write a resolver in a TypeScript config',
      )
    if (root === 'Mutation' && method === 'GET')
      throw new Unsaid(
        'a GET request cannot be a mutation; move the field to Query, or use another HTTP method',
      )
    if (root && batch)
      throw new Unsaid('fields of Query and Mutation cannot be batched; remove batchKey or groupBy')
    const args = this.#argumentsOf(call)
    const type = print(field.type)
    const on = [...(root ? [] : [this.#joinOf(call)]), ...joins]
    draft.endpoints.push({
      line: field.loc?.startToken.line,
      name: `${parent}.${name}`,
      parent: root ? undefined : parent,
      target: bareType(type),
      used: (field.arguments ?? []).map((one) => bareType(print(one.type))),
      on,
      definition: filled({
        name: root ? name : `${parent.charAt(0).toLowerCase()}${parent.slice(1)}_${name}`,
        ...(method !== 'GET' && { method }),
        asQuery: root === 'Mutation' || method === 'GET' ? undefined : true,
        path: call.path === '' ? '/' : call.path,
        args,
        queryParams: grouped(call.query),
        queryArrayFormat: call.queryArrayFormat,
        headers: call.headers,
        ...bodyOf(call),
        responsePath: call.responsePath,
        returnType: batch && !type.startsWith('[') ? `[${type.replace(/!$/, '')}]` : type,
        description: root ? field.description?.value : undefined,
        rootField: root ? undefined : false,
      }),
    })
    const unused = (field.arguments ?? []).filter(({ name: { value } }) => !taken.args.has(value))
    for (const { name: arg, loc } of unused)
      this.#document.note(
        loc?.startToken.line,
        `${parent}.${name}(${arg.value}:): the request does not use this argument`,
      )
  }

  #argumentsOf({ field, parent, taken, batch }: RestCall): Record<string, unknown> {
    const args: Record<string, unknown> = {}
    const given = new Map((field.arguments ?? []).map((one) => [one.name.value, one]))
    for (const name of taken.args) {
      const node = given.get(name)
      if (!node) throw new Unsaid(`the request uses the argument ${name}, but the field has no such argument`)
      args[name] = argumentOf(node)
    }
    for (const [name, source] of taken.parents) {
      const node = this.#document.fieldsOf(parent).find((one) => one.name.value === source)
      if (!node) throw new Unsaid(`the request uses ${parent}.${source}, but ${parent} has no such field`)
      const type = print(node.type).replace(/!$/, '')
      args[name] = batch ? `[${type}!]!` : `${type}!`
    }
    return args
  }

  #joinOf({ parent, name, field, taken, batch }: RestCall): JoinedField {
    if (batch && taken.parents.size !== 1)
      throw new Unsaid(
        `a batched request must use exactly one field of the parent ${parent}, got ${taken.parents.size}`,
      )
    const seenAs = (own: string): string => {
      const node = this.#document.fieldsOf(parent).find((one) => one.name.value === own)
      return node ? this.#nameOf(node) : own
    }
    const args = Object.fromEntries([...taken.parents].map(([arg, own]) => [arg, `{${seenAs(own)}}`]))
    const many = print(field.type).startsWith('[') ? true : undefined
    return { type: parent, field: name, args, ...(batch && { batch: filled({ ...batch, many }) }) }
  }

  /**
   * The config's `rest`: each type stands where it is used first; what nothing leads to is left out. `elsewhere`: types of
   * other sources; `others`: whether there are more of them, which nobody knows here.
   */
  write(given: TypeWords, elsewhere: ReadonlySet<string>, others = false): Record<string, object> {
    const all = [...this.#drafts.values()].flatMap(({ endpoints }) => endpoints)
    const words = this.#withoutEmpty(given, all)
    const reached = this.#reached(all, words, elsewhere)
    for (const { line, name, parent, target } of all)
      if (words.isEmpty(target))
        this.#document.note(line, `${name}: no field of the return type ${target} could be converted`)
      else if (parent !== undefined && !reached.has(parent))
        this.#document.note(line, `${name}: no converted field returns the type ${parent}`)
    const taken = new Set(elsewhere)
    const written: Record<string, object> = {}
    for (const [name, { settings, forwarded, endpoints }] of this.#drafts) {
      const kept = endpoints.filter((one) => isKept(one, words, reached))
      if (kept.length === 0) continue
      const start = kept.flatMap(({ target, used }) => [target, ...used])
      const types = typesFrom(start, this.#document, words, taken)
      for (const type of Object.keys(types)) taken.add(type)
      const forwardHeaders = [...forwarded].toSorted()
      const definitions = kept.map(({ definition, on: joins }) => {
        const on = joins.filter(({ type }) => others || reached.has(type))
        return filled({ ...definition, on: on.length === 1 ? on[0] : on })
      })
      written[name] = { ...filled({ ...settings, forwardHeaders, types }), endpoints: definitions }
    }
    return written
  }

  /** The words of types without fields that give objects of which nothing is left. */
  #withoutEmpty(words: TypeWords, all: readonly Endpoint[]): TypeWords & { isEmpty(type: string): boolean } {
    const empty = new Set<string>()
    const joined = new Set(all.map(({ parent }) => parent))
    const placeOf: TypeWords['placeOf'] = (type, field) =>
      empty.has(bareType(print(field.type))) ? undefined : words.placeOf(type, field)
    for (let before = -1; before !== empty.size;) {
      before = empty.size
      for (const [name, { kind }] of this.#document.types) {
        if (kind !== Kind.OBJECT_TYPE_DEFINITION || joined.has(name)) continue
        const isLeft = this.#document.fieldsOf(name).some((field) => placeOf(name, field))
        if (!isLeft && Object.keys(words.more(name)).length === 0) empty.add(name)
      }
    }
    return { ...words, placeOf, more: (type) => words.more(type), isEmpty: (type) => empty.has(type) }
  }

  /** The types that fields of root types lead to, by joins as well. */
  #reached(
    all: readonly Endpoint[],
    words: TypeWords & { isEmpty(type: string): boolean },
    elsewhere: ReadonlySet<string>,
  ): ReadonlySet<string> {
    const reached = new Set(elsewhere)
    for (let before = -1; before !== reached.size;) {
      before = reached.size
      const start = all.filter((one) => isKept(one, words, reached)).map(({ target }) => target)
      for (const type of Object.keys(typesFrom(start, this.#document, words, new Set()))) reached.add(type)
    }
    return reached
  }
}

function isKept(
  { parent, target }: Endpoint,
  words: { isEmpty(type: string): boolean },
  reached: ReadonlySet<string>,
): boolean {
  return !words.isEmpty(target) && (parent === undefined || reached.has(parent))
}

function bodyOf({ method, body }: RestCall): object {
  if (body === undefined) return method === 'GET' || method === 'DELETE' ? {} : { bodyTemplate: false }
  return 'arg' in body ? { body } : { bodyTemplate: body.template }
}

function argumentOf({ type, defaultValue, description }: InputValueDefinitionNode): unknown {
  const text = print(type)
  if (!defaultValue && !description) return text
  return filled({
    type: text,
    default: defaultValue && valueFromASTUntyped(defaultValue),
    description: description?.value,
  })
}

function grouped(query: RestCall['query']): Record<string, unknown> {
  const found: Record<string, string[]> = {}
  for (const [name, template] of query) found[name] = [...(found[name] ?? []), template]
  return Object.fromEntries(
    Object.entries(found).map(([name, all]) => [name, all.length === 1 ? all[0] : all]),
  )
}

/** The parameters of the query of a URL, as a server reads them: names and values are decoded, since requests encode them anew. Throws {@link Unsaid}. */
export function queryOf(search: string): readonly (readonly [name: string, value: string])[] {
  return search
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      return [decoded(name), decoded(value)] as const
    })
}

function decoded(text: string): string {
  if (/%7[bd]/i.test(text))
    throw new Unsaid(`encoded braces in the query of a URL (${text}) are not supported; remove them`)
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    // A percent sign that begins no code stands for itself.
    return spaced
  }
}
