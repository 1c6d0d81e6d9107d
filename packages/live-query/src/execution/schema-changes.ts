import { keyed } from '@vinyasa/core'
import type { GraphQLSchema } from 'graphql'
import { addLiveDirective } from '../document/directive.ts'

/** The schemas of one server. There can be a schema per request, and several schemas at the same time. */
export interface SchemaChanges {
  /**
   * Called with a new schema of the server. Returns the schema with `@live`, which is the same object for the same
   * schema.
   */
  replaced(schema: GraphQLSchema): GraphQLSchema
  /** Called when the schema of a request is final. Runs of live queries do not affect other queries. */
  enveloped(isRun: boolean): void
  /** Returns a number for a schema, for use in keys. */
  numberOf(schema: GraphQLSchema): number
}

/**
 * @param prepare called once for each schema, with `@live`
 * @param onChange called if another schema can change the results of live queries
 */
export function createSchemaChanges(
  prepare: (schema: GraphQLSchema) => void,
  onChange: () => void,
): SchemaChanges {
  const prepared = new WeakMap<GraphQLSchema, GraphQLSchema>()
  let count = 0
  const numberOf = keyed(() => ++count, new WeakMap<GraphQLSchema, number>())
  /** The schema of the last notification. */
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

  /** A schema that is set outside of requests applies to all requests. */
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
      // A request sets its schema synchronously, so a microtask can determine whether the change belongs to a request.
      else if (!change) queueMicrotask(outsideOfRequests)
      change = { to, isNew: !known || change?.isNew === true }
      return to
    },
    enveloped(isRun) {
      const { to, isNew } = change ?? {}
      change = undefined
      // A schema that was used before belongs to other requests, because servers can have a schema per tenant.
      if (to && isNew && !isRun) tell(to)
    },
  }
}
