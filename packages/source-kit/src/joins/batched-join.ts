import { after, canonicalJson, createAttachment } from '@vinyasa/core'
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql'
import { recordedJoin } from '../plan/recorded.ts'
import { createJoinCalls, type JoinCalls, type Keyed } from './join-calls.ts'
import { isJoinKey, type ReadParent } from './parent-key.ts'

type Values = Readonly<Record<string, unknown>>

/** Items of a reply, grouped by key. */
export type ItemsByKey = ReadonlyMap<string, readonly unknown[]>

/** Joined field whose values are loaded with one call for many parents. */
export interface BatchedJoin {
  readonly readKey: ReadParent
  /** Whether the field returns all items of a key as a list, instead of the first item. */
  readonly many: boolean
  /** Maximum number of keys per call, at least 1. */
  readonly maxBatchSize: number
  /**
   * Returns a string for the arguments apart from the keys. Fields with equal strings share calls. Default: no such
   * arguments.
   */
  readonly argumentsText?: (args: Values) => string
  /** Makes one call. The string values of its keys are unique. */
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

/**
 * Creates a resolver that loads a joined field with one call for all parents that are resolved in the same tick. The
 * items of the reply can be in any order.
 */
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

/** Groups items by the string value of their key. Items without a key are ignored. */
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
