import type { Plugin } from '@envelop/core'
import { plannerOf, type Executor, type Planner } from '@vinyasa/source-kit'
import type { GraphQLSchema } from 'graphql'
import type { RestConnector } from './connector.ts'
import { RestConfigError } from './errors.ts'
import { extendWithAll, type Extended } from './extend-schema.ts'

/** An Envelop plugin; on a Yoga server what is missing in the schema is reported at start already. */
export type RestConnectorPlugin = Plugin & { onYogaInit(): void }

/**
 * Adds the endpoints of one or several connectors to a server's schema, beside whatever else is in it; without any
 * other schema they are the schema. Throws `RestConfigError` when two places define one field.
 */
export function useRestConnector(connectors: RestConnector | readonly RestConnector[]): RestConnectorPlugin {
  const contributions = [connectors].flat().map((connector) => connector.contribution)
  // A server may hand in the same base schema with every request.
  const extended = new WeakMap<GraphQLSchema, Extended>()
  let planner: Planner | undefined
  let current: Extended | undefined
  let setSchema: ((schema: GraphQLSchema) => void) | undefined

  function extend(base: GraphQLSchema): Extended {
    const known = extended.get(base)
    if (known) return known
    const result = extendWithAll(base, contributions)
    extended.set(base, result)
    return result
  }

  function beTheSchema(): void {
    if (current || !setSchema) return
    current = extendWithAll(null, contributions)
    setSchema(current.schema)
  }

  function refuseMissingTypes(): void {
    const [first] = current?.pending ?? []
    if (!first) return
    const { field, missing } = first
    throw new RestConfigError(
      `field ${field.parent}.${field.name} of ${String(field.extensions['origin'])} needs ${missing}, ` +
        `which nothing defines; declare it in a responseSchema or add the source that has it`,
    )
  }

  function refuseNoQuery(): void {
    if (current && !current.schema.getQueryType())
      throw new RestConfigError(
        'the schema has no query field, which GraphQL requires; add a GET endpoint, set asQuery, or give the server a schema',
      )
  }

  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const planned = planner?.plan(args, executeFn as Executor)
      if (planned) setExecuteFn(planned as typeof executeFn)
    },
    onPluginInit(init) {
      setSchema = init.setSchema
      planner = plannerOf(init.plugins)
      for (const { id, onPlan } of contributions) if (onPlan) planner.listen(id, onPlan)
    },
    onSchemaChange({ schema, replaceSchema }) {
      const base = schema as GraphQLSchema
      current = extend(base)
      if (current.schema !== base) replaceSchema(current.schema)
    },
    onYogaInit() {
      if (current) refuseMissingTypes()
      else beTheSchema()
    },
    onEnveloped() {
      beTheSchema()
      refuseMissingTypes()
      refuseNoQuery()
    },
  }
}
