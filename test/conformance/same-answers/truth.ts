import {
  buildSchema,
  execute,
  type ExecutionResult,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isAbstractType,
  isIntrospectionType,
  isObjectType,
  parse,
  printSchema,
} from 'graphql'
import { type Held, limited, type Made, shownThing, thingsFor, usersFor } from './backends.ts'
import type { Outcome, Row } from './data.ts'
import { ownsOf } from './own.ts'

// What operations give, by resolvers that read the data: nothing is called, shared, planned or late. What failed for a
// server is asked of the calls that it made, as time has it which keys are asked for together.

class Asking {
  /** Calls for one thing had several outcomes: either may be in the answer. */
  isUnclear = false
  readonly held: Held
  readonly user: string
  readonly #made: readonly Made[]
  readonly #before: readonly Made[]
  #changes = 0

  constructor(held: Held, user: string, made: readonly Made[], since: number) {
    const isOwn = ({ caller }: Made): boolean => caller === user
    this.held = held
    this.user = user
    this.#before = made.slice(0, since).filter(isOwn)
    this.#made = made.slice(since).filter(isOwn)
  }

  /** Fails as the call did that asked for all of these. */
  ofRoot(name: string, keys: readonly string[]): void {
    const text = keys.toSorted().join()
    this.#check((call) => call.name === name && call.keys.join() === text)
  }

  /** Fails as the call did that asked for this, and perhaps for others. */
  ofKey(name: string, key: string): void {
    this.#check((call) => call.name === name && call.keys.includes(key))
  }

  /** Fails as the next change did. */
  ofChange(): void {
    const changes = this.#made.filter(({ name }) => name.startsWith('set'))
    const change = changes[this.#changes++]
    this.#check((call) => call === change)
  }

  #check(isMeant: (call: Made) => boolean): void {
    const calls = this.#made.filter(isMeant)
    // What was answered before may have been kept, and be given again without a call.
    const kept = this.#before.filter((call) => isMeant(call) && call.outcome !== 'broken')
    const outcomes = new Set<Outcome>([...calls, ...kept].map(({ outcome }) => outcome))
    if (calls.length > 0 ? outcomes.size > 1 : outcomes.has('missing')) this.isUnclear = true
    if (calls[0] && calls[0].outcome !== 'answered') throw new Error(calls[0].outcome)
  }
}

type Resolve = GraphQLFieldResolver<any, Asking>

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('missing')
  return value
}

const isKey = (key: unknown): boolean => key !== null && key !== undefined && key !== ''

function users({ held, user }: Asking, name: string, keys: readonly unknown[], to?: string): any {
  return need(usersFor(held, name, keys, user, to))
}

function things(
  { held, user }: Asking,
  name: string,
  keys: readonly string[],
  limit?: number,
  to?: string,
): any {
  const found = need(thingsFor(held, name, keys, limit, to))
  return Array.isArray(found) ? found.map((one) => shownThing(one, user)) : shownThing(found, user)
}

const ofUsers =
  (name: string): Resolve =>
  (_, { id, ids }, asking) => {
    const keys = ids ?? (id ? [id] : [])
    asking.ofRoot(name, keys)
    const found = users(asking, name, keys)
    return name === 'crowd' ? found.users : found
  }

const ofThings =
  (name: string): Resolve =>
  (_, { id, ids, limit }, asking) => {
    const keys = ids ?? (id === undefined ? [] : [id])
    asking.ofRoot([name, ...(isKey(limit) ? [limit] : [])].join(' '), keys)
    return things(asking, name, keys, limit ?? undefined)
  }

const ofOwn =
  (name: string): Resolve =>
  (_, { id }, asking) => {
    asking.ofRoot(name, id === undefined ? [] : [id])
    const all = ownsOf(asking.held, asking.user)
    return id === undefined ? all : all.find((one) => one.id === id)
  }

function joined(
  name: string,
  parentKey: string,
  itemKey: string,
  { many = false, isUser = false } = {},
): Resolve {
  return (parent, { limit }, asking) => {
    const key: unknown = parent[parentKey]
    if (!isKey(key)) return many ? [] : null
    const text = String(key)
    asking.ofKey([name, ...(isKey(limit) ? [limit] : [])].join(' '), text)
    const by: (Row | null)[] = isUser ? users(asking, name, [text]).users : things(asking, name, [text])
    const of = by.filter(
      (one): one is Row => one !== null && isKey(one[itemKey]) && String(one[itemKey]) === text,
    )
    return many ? limited(of, limit ?? undefined) : (of[0] ?? null)
  }
}

/** Null where there is none, or where a key is none. */
function single(
  name: string,
  keysOf: (parent: any) => readonly string[],
  find: (asking: Asking, name: string, keys: readonly string[]) => unknown,
): Resolve {
  return (parent, { tint }, asking) => {
    const keys = keysOf(parent)
    if (!keys.every(isKey)) return null
    try {
      asking.ofRoot([name, ...(isKey(tint) ? [tint] : [])].join(' '), keys)
      return find(asking, name, keys.toSorted())
    } catch (error) {
      if ((error as Error).message === 'missing') return null
      throw error
    }
  }
}

const user = { isUser: true }
const owner = joined('byId', 'ownerId', 'id', user)

const RESOLVERS: Readonly<Record<string, Readonly<Record<string, Resolve>>>> = {
  Query: {
    ...Object.fromEntries(
      ['user', 'sureUser', 'users', 'crowd', 'find'].map((name) => [name, ofUsers(name)]),
    ),
    ...Object.fromEntries(['item', 'sure', 'items', 'things', 'held'].map((name) => [name, ofThings(name)])),
    ...Object.fromEntries(['own', 'owns'].map((name) => [name, ofOwn(name)])),
  },
  Mutation: {
    setUser: (_, { id, name }, asking) => {
      asking.ofChange()
      return users(asking, 'setUser', [id ?? ''], name ?? '')
    },
    setItem: (_, { id, name }, asking) => {
      asking.ofChange()
      return things(asking, 'setItem', [id], undefined, name)
    },
  },
  User: {
    mates: joined('mates', 'kind', 'kind', { many: true, isUser: true }),
    sameNumber: joined('byNumber', 'number', 'number', { many: true, isUser: true }),
    items: joined('owned', 'id', 'ownerId', { many: true }),
    item: joined('itemsById', 'itemId', 'id'),
    oneItem: single('itemOf', ({ itemId }) => [itemId], things),
    pair: single('pair', ({ id, itemId }) => [id, itemId], things),
  },
  Place: { user: joined('byId', 'userId', 'id', user) },
  Note: { user: joined('alone', 'userId', 'id', user), item: joined('itemsOfBoxes', 'id', 'id') },
  Item: {
    number: ({ number }) => (number === null ? null : String(number)),
    owner,
    sureOwner: owner,
    loneOwner: joined('alone', 'ownerId', 'id', user),
    oneOwner: single('one', ({ ownerId }) => [ownerId], users),
    kin: joined('byKind', 'colour', 'kind', { many: true, isUser: true }),
    numberedUser: joined('byNumber', 'number', 'number', user),
    near: joined('near', 'nearId', 'id'),
    numbered: joined('numbered', 'number', 'number', { many: true }),
  },
  Box: { owner, item: joined('itemsOfBoxes', 'itemId', 'id') },
  Own: {
    owner,
    items: joined('itemsOfOwn', 'itemId', 'id', { many: true }),
    late: ({ text }) => `late ${text}`,
  },
}

export interface True {
  readonly result: ExecutionResult
  readonly isUnclear: boolean
}

export type Truth = (
  operation: { readonly query: string; readonly variables: Readonly<Record<string, unknown>> },
  held: Held,
  user: string,
  made: readonly Made[],
  since: number,
) => Promise<True>

export function createTruth(of: GraphQLSchema): Truth {
  const schema = buildSchema(printSchema(of), { assumeValidSDL: true })
  for (const [name, type] of Object.entries(schema.getTypeMap())) {
    if (isAbstractType(type)) type.resolveType = (value) => (value.type === 'item' ? 'Item' : 'Box')
    // Those of introspection are the same objects in every schema of the process.
    if (!isObjectType(type) || isIntrospectionType(type)) continue
    for (const [field, definition] of Object.entries(type.getFields()))
      definition.resolve = RESOLVERS[name]?.[field] as never
  }
  return async ({ query, variables: variableValues }, held, caller, made, since) => {
    const contextValue = new Asking(held, caller, made, since)
    const result = await execute({ schema, document: parse(query), variableValues, contextValue })
    // Interpreters' objects have no prototypes.
    return {
      result: JSON.parse(JSON.stringify(result)) as ExecutionResult,
      isUnclear: contextValue.isUnclear,
    }
  }
}
