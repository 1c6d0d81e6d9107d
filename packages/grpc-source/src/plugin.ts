import type { Plugin } from '@envelop/core'
import { plannerOf, type Executor, type Planner } from '@vinyasa/source-kit'
import type { GraphQLSchema } from 'graphql'
import { extendTypes, missingFields } from './schema/extend.ts'
import { mergeSchemas } from './schema/merge.ts'
import type { GrpcSource } from './source.ts'

/** What Yoga adds to an Envelop plugin, as far as it is used here. */
export interface GrpcSourcePlugin extends Plugin {
  onRequest?(payload: { readonly request: Request }): void
}

/**
 * Adds a source's fields to the server's schema, or makes them the schema of a server that has none.
 * Works beside other sources, in any order.
 * @throws GrpcSourceError from the server's constructor when a field is there already, naming both origins
 */
export function useGrpcSource(source: GrpcSource): GrpcSourcePlugin {
  /** Servers set the same schema again for each request. */
  const merged = new WeakMap<
    GraphQLSchema,
    { readonly from: GraphQLSchema; readonly schema: GraphQLSchema }
  >()
  const made = new WeakSet<GraphQLSchema>()
  const key = `grpc-source:${source.name}`
  let planner: Planner | undefined
  let base: GraphQLSchema | undefined
  let replace: ((schema: GraphQLSchema) => void) | undefined

  function add(schema: GraphQLSchema): GraphQLSchema {
    const known = merged.get(schema)
    if (known?.from === source.schema) return known.schema
    const result = mark(
      extendTypes(mergeSchemas(schema, source.schema), source.foreignJoins),
      key,
      source.schema,
    )
    merged.set(schema, { from: source.schema, schema: result })
    made.add(result)
    return result
  }

  source.onReload(() => replace?.(base ? add(base) : mark(source.schema, key, source.schema)))

  return {
    onPluginInit({ plugins }) {
      planner = plannerOf(plugins)
      if (source.onPlan) planner.listen(source.id, source.onPlan)
    },
    onRequest({ request }) {
      source.requestArrived(request)
    },
    onSchemaChange({ schema, replaceSchema }) {
      replace = replaceSchema
      // Another source has added to what this one made.
      if (made.has(schema)) return
      if (holds(schema, source.schema, key)) {
        // Another source has added types, maybe those that joins wait for.
        const due = missingFields(schema, source.foreignJoins)
        if (due.size === 0) return
        const extended = mark(extendTypes(schema, due), key, source.schema)
        made.add(extended)
        replaceSchema(extended)
        return
      }
      base = schema
      replaceSchema(add(schema))
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      const planned = planner?.plan(args, executeFn as Executor)
      if (planned) setExecuteFn(planned as typeof executeFn)
    },
    onEnveloped({ setSchema }) {
      if (replace) return
      // No schema was set by anyone: the source's is the first.
      replace = setSchema
      const own = mark(source.schema, key, source.schema)
      made.add(own)
      setSchema(own)
    },
  }
}

/** Whether the source is part of a schema: by its mark, or, where the mark was dropped, by its fields. */
function holds(schema: GraphQLSchema, own: GraphQLSchema, key: string): boolean {
  if (schema.extensions[key] !== undefined) return schema.extensions[key] === own
  for (const root of ['getQueryType', 'getMutationType', 'getSubscriptionType'] as const) {
    for (const [name, field] of Object.entries(own[root]()?.getFields() ?? {})) {
      const present = schema[root]()?.getFields()[name]
      if (present) return present.extensions['origin'] === field.extensions['origin']
    }
  }
  return false
}

/** Remembers on a schema that the source is part of it, also when another source builds on it. */
function mark(schema: GraphQLSchema, key: string, from: GraphQLSchema): GraphQLSchema {
  schema.extensions = { ...schema.extensions, [key]: from }
  return schema
}
