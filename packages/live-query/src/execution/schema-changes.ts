import { keyed } from '@vinyasa/core'
import type { GraphQLSchema } from 'graphql'
import { addLiveDirective } from '../document/directive.ts'

/** The schemas of one server. There may be one for each request, and several at a time. */
export interface SchemaChanges {
  /** The server's schema is another one: gives it with `@live`, always the same object for the same schema. */
  replaced(schema: GraphQLSchema): GraphQLSchema
  /** A request has the schema it is to have. A run of a live query changes nothing that others show. */
  enveloped(isRun: boolean): void
  /** Stands for a schema in keys. */
  numberOf(schema: GraphQLSchema): number
}

/**
 * @param prepare Called once for each schema, with `@live` in it.
 * @param onChange Called when another schema may change what live queries show.
 */
export function createSchemaChanges(
  prepare: (schema: GraphQLSchema) => void,
  onChange: () => void,
): SchemaChanges {
  const prepared = new WeakMap<GraphQLSchema, GraphQLSchema>()
  let count = 0
  const numberOf = keyed(() => ++count, new WeakMap<GraphQLSchema, number>())
  /** The schema that live queries were last told of. */
  let told: GraphQLSchema | undefined
  let change: { readonly to: GraphQLSchema; readonly isNew: boolean } | undefined

  function withLive(schema: GraphQLSchema): GraphQLSchema {
    const live = addLiveDirective(schema)
    prepare(live)
    prepared.set(schema, live).set(live, live)
    numberOf(live)
    return live
  }

  function tell(schema: GraphQLSchema): void {
    const isFirst = told === undefined
    told = schema
    if (!isFirst) onChange()
  }

  /** Whoever sets a schema outside of requests sets it for all. */
  function outsideOfRequests(): void {
    const to = change?.to
    change = undefined
    if (to && to !== told) tell(to)
  }

  return {
    numberOf,
    replaced(schema) {
      const known = prepared.get(schema)
      const to = known ?? withLive(schema)
      if (told === undefined) told = to
      // Whether this belongs to a request is known before the turn is over: its schema is set without waiting.
      else if (!change) queueMicrotask(outsideOfRequests)
      change = { to, isNew: !known || change?.isNew === true }
      return to
    },
    enveloped(isRun) {
      const { to, isNew } = change ?? {}
      change = undefined
      // One that was seen before is that of other requests, as there are servers with a schema for each tenant.
      if (to && isNew && !isRun) tell(to)
    },
  }
}
