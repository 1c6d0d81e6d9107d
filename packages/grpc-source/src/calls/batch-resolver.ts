import {
  type BatchedJoin,
  createBatchedJoin,
  groupByKey,
  type ItemsByKey,
  offerField,
} from '@vinyasa/source-kit'
import type { GraphQLFieldResolver } from 'graphql'
import type { PlannableJoin } from '../json/message-plan.ts'
import { marks } from '../json/planned-field.ts'
import { grpcFastPath } from './grpc-fast-path.ts'

/** The method that brings the items of many keys. */
type BatchMethod = Pick<PlannableJoin, 'runtime' | 'output' | 'toRequest' | 'items' | 'itemKey' | 'parentKey'>

/** Resolves a batched join by one RPC for all parents, or lets plans do so. */
export function createBatchResolver(
  join: Omit<BatchedJoin, 'load'>,
  method: BatchMethod,
  plannable: Pick<PlannableJoin, 'codecs' | 'transcoder'> | undefined,
): GraphQLFieldResolver<unknown, unknown> {
  const { runtime, toRequest, items, itemKey } = method
  const itemsIn = (response: unknown): ItemsByKey =>
    groupByKey(memberOf(response, items.name), (item) => memberOf(item, itemKey.name))
  const batched: BatchedJoin = {
    ...join,
    async load(asked, _args, context, { operation, rootValue }) {
      // A batch is not one deferred fragment's to cancel, only the client's who leaves.
      const info = { operation, rootValue: rootValue as unknown }
      return itemsIn(await runtime.unary(toRequest(asked.map(String)), { context, info }))
    },
  }
  if (!plannable) return createBatchedJoin(batched)
  const planned: PlannableJoin = {
    ...batched,
    ...method,
    ...plannable,
    itemsIn: (bytes) => itemsIn(runtime.decode(bytes)),
  }
  const resolve = createBatchedJoin(planned)
  offerField(marks.mark(resolve, { kind: 'join', join: planned }), grpcFastPath)
  return resolve
}

export function memberOf(message: unknown, name: string): unknown {
  return (message as Readonly<Record<string, unknown>> | null | undefined)?.[name]
}
