import { isJoinKey, memberIn, recordedJoin } from '@vinyasa/source-kit'
import DataLoader from 'dataloader'
import { GraphQLError, type GraphQLFieldResolver, type GraphQLResolveInfo } from 'graphql'
import type { MethodRuntime } from '../methods/method-runtime.ts'
import type { OperationInfo, Operations } from '../methods/operation.ts'

type Values = Readonly<Record<string, unknown>>
type Resolver = GraphQLFieldResolver<unknown, unknown, Values>

/**
 * One call for one parent. A parent without the key, or a key without a value, is null. `isOwn`: what the request takes
 * of the parent is called as the protos do, not as clients.
 */
export function createSingleResolver(
  { request, isOwn }: { readonly request: Readonly<Record<string, string>>; readonly isOwn: boolean },
  runtime: MethodRuntime,
  pluck: string | undefined,
): Resolver {
  const bindings = Object.entries(request)
  return async (parent, args, context, info) => {
    const values: Record<string, unknown> = { ...args }
    for (const [name, parentField] of bindings) {
      const value = isOwn ? valueOf(parent, parentField) : parentValue(parent, parentField, info)
      if (!isJoinKey(value)) return null
      values[name] = toKey(value)
    }
    try {
      const response = await runtime.unary(values, { context, info: info as OperationInfo })
      return pluck === undefined ? runtime.pluck(response) : valueOf(response, pluck)
    } catch (error) {
      if (error instanceof GraphQLError && error.extensions['code'] === 'NOT_FOUND') return null
      throw error
    }
  }
}

export interface BatchResolverOptions {
  readonly runtime: MethodRuntime
  readonly operations: Operations
  readonly keysField: string
  readonly itemsField: string
  readonly itemKey: string
  readonly parentKey: string
  readonly many: boolean
  readonly maxBatchSize: number | undefined
}

export interface BatchResolver {
  readonly resolve: Resolver
  /** What `resolve` gives for a key that a reply answers. */
  readonly valuesIn: (reply: Uint8Array) => (key: string) => unknown
}

/** One call for all parents that are resolved together. Items are found by their key, whatever their order. */
export function createBatchResolver(options: BatchResolverOptions): BatchResolver {
  const { runtime, operations, keysField, itemsField, itemKey, parentKey, many, maxBatchSize } = options
  const valuesIn = (reply: Uint8Array): ((key: string) => unknown) => pick(runtime.decode(reply))

  function loaderOf(context: unknown, info: OperationInfo): DataLoader<string, unknown> {
    const { loaders } = operations.of(context, info)
    let loader = loaders.get(valuesIn) as DataLoader<string, unknown> | undefined
    if (!loader) loaders.set(valuesIn, (loader = createLoader(context, info)))
    return loader
  }

  function pick(response: unknown): (key: string) => unknown {
    const found = groupByKey(valueOf(response, itemsField) as readonly unknown[], itemKey, many)
    return (key) => found.get(key) ?? (many ? [] : null)
  }

  function createLoader(context: unknown, info: OperationInfo): DataLoader<string, unknown> {
    const load = async (keys: readonly string[]): Promise<unknown[]> => {
      const response = await runtime.unary({ [keysField]: [...new Set(keys)] }, { context, info })
      return keys.map(pick(response))
    }
    // Between the fields of a mutation the data changes.
    return new DataLoader(load, {
      cache: info.operation.operation !== 'mutation',
      ...(maxBatchSize === undefined ? {} : { maxBatchSize }),
    })
  }

  return {
    resolve(parent, _args, context, info) {
      const key = parentValue(parent, parentKey, info)
      if (!isJoinKey(key)) return many ? [] : null
      return (
        recordedJoin(info, valuesIn, String(key)) ??
        loaderOf(context, info as OperationInfo).load(String(key))
      )
    },
    valuesIn,
  }
}

function groupByKey(items: readonly unknown[], itemKey: string, many: boolean): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const item of items) {
    const key = String(valueOf(item, itemKey))
    if (!many) found.set(key, item)
    else if (found.has(key)) (found.get(key) as unknown[]).push(item)
    else found.set(key, [item])
  }
  return found
}

/** What a field of the parent shows, by the name that it has in the server's schema. */
function parentValue(parent: unknown, field: string, { parentType }: GraphQLResolveInfo): unknown {
  return valueOf(parent, memberIn(parentType, field))
}

function valueOf(parent: unknown, field: string): unknown {
  return typeof parent === 'object' && parent !== null && Object.hasOwn(parent, field)
    ? (parent as Values)[field]
    : undefined
}

/** Other sources may hold as a number what the proto has as a string. */
function toKey(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
