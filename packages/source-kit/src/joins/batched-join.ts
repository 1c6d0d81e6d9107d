import { after, canonicalJson, createAttachment } from '@vinyasa/base'
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql'
import { recordedJoin } from '../plan/recorded.ts'
import { createJoinCalls, type JoinCalls, type Keyed } from './join-calls.ts'
import { isJoinKey, type ReadParent } from './parent-key.ts'

type Values = Readonly<Record<string, unknown>>

/** The items that a call brought, by the key that each of them has. */
export type ItemsByKey = ReadonlyMap<string, readonly unknown[]>

/** A field whose values one call brings for many parents. */
export interface BatchedJoin {
  readonly readKey: ReadParent
  /** All items of a key, as a list, in place of the first. */
  readonly many: boolean
  /** Keys that one call takes, at least one. */
  readonly maxBatchSize: number
  /** A text for the arguments that are no keys: those with equal texts share calls. Default: there are none. */
  readonly argumentsText?: (args: Values) => string
  /** Makes one call. No two keys are equal as texts. */
  readonly load: (
    keys: readonly unknown[],
    args: Values,
    context: unknown,
    info: GraphQLResolveInfo,
  ) => Promise<ItemsByKey>
}

interface AskedKey extends Keyed {
  readonly value: unknown
}

type Calls = JoinCalls<AskedKey, ItemsByKey>

/** Resolves a joined field by one call for all parents that are resolved together, whatever the order of what it brings. */
export function createBatchedJoin(join: BatchedJoin): GraphQLFieldResolver<unknown, unknown, Values> {
  const { readKey, many, maxBatchSize, argumentsText = () => '', load } = join
  const ofExecutions = createAttachment<Map<string, Calls>>()

  function callsFor(args: Values, text: string, context: unknown, info: GraphQLResolveInfo): Calls {
    // Variables are made anew for every execution, also where a context is used for several.
    const { variableValues, operation, path } = info
    let byArguments = ofExecutions.get(variableValues)
    if (!byArguments) ofExecutions.set(variableValues, (byArguments = new Map<string, Calls>()))
    // Between the fields of a mutation the data changes.
    const shared = operation.operation === 'mutation' ? `${rootKey(path)} ${text}` : text
    let calls = byArguments.get(shared)
    if (calls) return calls
    calls = createJoinCalls(maxBatchSize, (asked) => {
      // And between the events of a subscription, which have no other sign.
      if (operation.operation === 'subscription') byArguments.delete(shared)
      return load(
        asked.map(({ value }) => value),
        args,
        context,
        info,
      )
    })
    byArguments.set(shared, calls)
    return calls
  }

  async function ask(value: unknown, key: string, calls: Calls): Promise<unknown> {
    const asked = { key, value }
    await calls.ask(asked).arrive([asked])
    return joinedValue(calls.replyFor(key), key, many)
  }

  return (parent, args, context, info) =>
    after(readKey(parent, context, info), (value) => {
      if (!isJoinKey(value)) return joinedValue(undefined, '', many)
      const key = keyText(value)
      const text = argumentsText(args)
      return recordedJoin(info, join, text + key) ?? ask(value, key, callsFor(args, text, context, info))
    })
}

function rootKey(path: GraphQLResolveInfo['path']): string | number {
  let root = path
  while (root.prev) root = root.prev
  return root.key
}

/**
 * Returns a joined field's value for a key: the first item that has it, or null; with `many`, all of them.
 */
export function joinedValue(items: ItemsByKey | undefined, key: string, many: boolean): unknown {
  const found = items?.get(key) ?? []
  return many ? found : (found[0] ?? null)
}

/** Returns equal text for equal keys. No string is the text of an object or a list. */
function keyText(value: unknown): string {
  const json = typeof value === 'object' ? canonicalJson(value) : undefined
  return json === undefined ? String(value) : `\0${json}`
}

/** The items by what is read of them, as text. Items without it are nobody's. */
export function groupByKey(items: unknown, keyOf: (item: object) => unknown): ItemsByKey {
  const groups = new Map<string, unknown[]>()
  for (const item of Array.isArray(items) ? (items as unknown[]) : []) {
    const value = typeof item === 'object' && item !== null ? keyOf(item) : undefined
    if (!isJoinKey(value)) continue
    const key = keyText(value)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
