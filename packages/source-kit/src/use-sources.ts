import type { Plugin } from '@envelop/core'
import { atLeast, type KnownOptions, refuseWrongOptions } from '@vinyasa/base'
import { type AnswerLimits, beginAnswer, yogasExecutor } from '@vinyasa/yoga-internals'
import type { ExecutionArgs, ExecutionResult, GraphQLDirective, GraphQLSchema } from 'graphql'
import { boundAnswer, boundLater } from './answer/bound-answer.ts'
import type { Executor } from './plan/plain-executor.ts'
import type { Source } from './schema/source.ts'
import { serverOf, type SourceServer } from './server.ts'

/** An operation as the pipeline of a Yoga server hands it to those who may execute it. */
export interface PlannedOperation {
  readonly prepared: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName'>
  readonly params: { readonly variables?: ExecutionArgs['variableValues'] }
  readonly context: unknown
  /** Arguments that other plugins have added. */
  readonly added?: object | undefined
  /** Executes in parts: no plan does. */
  readonly executor?: unknown
}

/** An Envelop plugin; on a Yoga server what is missing in the schema is reported at start already. */
export type SourcesPlugin = Plugin & {
  onYogaInit(): void
  /** For the pipeline of a Yoga server; Envelop without it calls the hooks. */
  readonly behaviour: {
    plan<Operation extends PlannedOperation>(
      operation: Operation,
      next: (operation: Operation) => unknown,
    ): unknown
  }
}

/** Of all answers of a server, whoever makes them, and of its schemas. */
export interface SourcesOptions extends AnswerLimits {
  /**
   * Directives that other plugins add to schemas without them, as `useLiveQuery().directives`: a schema that is made anyway has
   * them at once. Default: none.
   */
  readonly directives?: readonly GraphQLDirective[] | undefined
  /** Hears when more than 8 MiB are held of answers that the server makes, and when no longer. Default: nobody does. */
  readonly onLargeAnswers?: ((areHeld: boolean) => void) | undefined
}

const NAMES: KnownOptions<SourcesOptions> = {
  directives: true,
  onLargeAnswers: true,
  maxAnswerObjects: atLeast(0),
  maxAnswerBytes: atLeast(0),
}

/**
 * Adds what sources have to a server's schema, beside whatever else is in it; without any other schema they are the
 * schema. May be used several times on one server, in any order.
 * @throws SchemaConflictError from the server's constructor when two places define one field
 */
export function useSources(sources: Source | readonly Source[], options: SourcesOptions = {}): SourcesPlugin {
  refuseWrongOptions('useSources', options, NAMES)
  const { directives = [], onLargeAnswers, ...limits } = options
  const own = [sources].flat()
  let server: SourceServer | undefined
  let plugins: readonly unknown[] = []
  let isFirst = false
  let setSchema: ((schema: GraphQLSchema) => void) | undefined

  /** False where the server has a schema. */
  function beTheSchema(): boolean {
    const schema = server?.whole()
    if (schema) use(schema)
    return schema !== undefined
  }

  /** The hook below is not told of what is set here. */
  function use(schema: GraphQLSchema): void {
    show(schema)
    setSchema?.(schema)
  }

  function show(schema: GraphQLSchema): void {
    if (isFirst) server?.count(schema)
    for (const source of own) source.onSchema?.(schema)
  }

  return {
    behaviour: {
      plan(operation, next) {
        if (!isFirst || !server) return next(operation)
        const { prepared, params, context, added, executor } = operation
        if (executor) {
          beginAnswer(context, server.limits)
          return next(operation)
        }
        const { schema, document, operationName } = prepared
        const variableValues = params.variables
        const args = { schema, document, operationName, variableValues, contextValue: context, ...added }
        const planned = server.planner.run(args)
        return planned ?? boundLater(beginAnswer(context, server.limits), next(operation), context)
      },
    },
    onPluginInit(init) {
      server = serverOf(init.plugins)
      plugins = init.plugins
      isFirst = server.add(own)
      server.limit(limits)
      server.direct(directives)
      if (onLargeAnswers) server.onLargeAnswers(onLargeAnswers)
      setSchema = init.setSchema
      for (const source of own) {
        source.onChange?.(() => {
          const schema = server?.renew()
          if (schema) use(schema)
        })
      }
    },
    onSchemaChange({ schema, replaceSchema }) {
      const extended = server?.extend(schema as GraphQLSchema)
      show(extended ?? (schema as GraphQLSchema))
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
      if (!isFirst || !server) return undefined
      const planned = server.planner.plan(args, executeFn as Executor)
      if (planned) {
        setExecuteFn(planned as typeof executeFn)
        return undefined
      }
      const size = beginAnswer(args.contextValue, server.limits)
      return {
        onExecuteDone({ result, setResult }) {
          const bounded = boundAnswer(size, result)
          if (bounded !== result) setResult(bounded as ExecutionResult)
        },
      }
    },
  }
}
