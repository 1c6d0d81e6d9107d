import type { Plugin } from '@envelop/core'
import type { ExecutionArgs, GraphQLSchema } from 'graphql'
import type { Executor } from './plan/plain-executor.ts'
import type { Planner } from './plan/planner.ts'
import type { Source } from './schema/source.ts'
import { serverOf, type SourceServer } from './server.ts'
import { yogasExecutor } from '@vinyasa/yoga-internals'

/** What node-handler hands to those who stand around the execution of a query that it knows. */
export interface ShortCall {
  readonly operation: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName'>
  readonly params: { readonly variables?: ExecutionArgs['variableValues'] }
  readonly context: unknown
  /** A plan is an execution like any other. */
  wasExecuted?: boolean
  /** Executes in parts: no plan does. */
  readonly executor?: unknown
}

/** An Envelop plugin; on a Yoga server what is missing in the schema is reported at start already. */
export type SourcesPlugin = Plugin & {
  onYogaInit(): void
  /** For node-handler: what is done in place of the hooks for a query that went through them before. */
  readonly shortWay: {
    execute<Call extends ShortCall>(call: Call, next: (call: Call) => unknown): unknown
  }
  /** For defer-splitter: answers operations by plans, where Yoga's own interpreter would execute them. */
  readonly plans: Pick<Planner, 'run'>
}

/**
 * Adds what sources have to a server's schema, beside whatever else is in it; without any other schema they are the
 * schema. May be used several times on one server, in any order.
 * @throws SchemaConflictError from the server's constructor when two places define one field
 */
export function useSources(sources: Source | readonly Source[]): SourcesPlugin {
  const own = [sources].flat()
  let server: SourceServer | undefined
  let plugins: readonly unknown[] = []
  let isFirst = false
  let setSchema: ((schema: GraphQLSchema) => void) | undefined

  /** False where the server has a schema. */
  function beTheSchema(): boolean {
    const schema = server?.whole()
    if (schema) setSchema?.(schema)
    return schema !== undefined
  }

  return {
    shortWay: {
      execute(call, next) {
        if (!isFirst || !server || call.executor) return next(call)
        const { operation, params, context } = call
        const { schema, document, operationName } = operation
        const variableValues = params.variables
        const args = { schema, document, operationName, variableValues, contextValue: context }
        const planned = server.planner.run(args)
        if (planned === undefined) return next(call)
        call.wasExecuted = true
        return planned
      },
    },
    plans: { run: (args) => (isFirst ? server?.planner.run(args) : undefined) },
    onPluginInit(init) {
      server = serverOf(init.plugins)
      plugins = init.plugins
      isFirst = server.add(own).isFirst
      setSchema = init.setSchema
      for (const source of own) {
        source.onChange?.(() => {
          const schema = server?.renew()
          if (schema) setSchema?.(schema)
        })
      }
    },
    onSchemaChange({ schema, replaceSchema }) {
      const extended = server?.extend(schema as GraphQLSchema)
      if (extended) replaceSchema(extended)
    },
    onYogaInit() {
      server?.planner.trust(yogasExecutor(plugins))
      // Others may yet bring what is missing in the first of all schemas.
      if (!beTheSchema()) server?.refuseMissingTypes()
    },
    onEnveloped() {
      beTheSchema()
      server?.refuseMissingTypes()
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      if (!isFirst) return
      const planned = server?.planner.plan(args, executeFn as Executor)
      if (planned) setExecuteFn(planned as typeof executeFn)
    },
  }
}
