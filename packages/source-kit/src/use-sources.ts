import type { Plugin } from '@envelop/core'
import { atLeast, type KnownOptions, refuseWrongOptions } from '@vinyasa/base'
import { type AnswerLimits, beginAnswer, yogasExecutor } from '@vinyasa/yoga-internals'
import type { ExecutionArgs, ExecutionResult, GraphQLDirective, GraphQLSchema } from 'graphql'
import { boundAnswer, boundLater } from './answer/bound-answer.ts'
import type { Executor } from './plan/plain-executor.ts'
import type { Source } from './schema/source.ts'
import { serverOf, type SourceServer } from './server.ts'

/** Operation that the pipeline of a Yoga server passes to its executors. */
export interface PlannedOperation {
  readonly prepared: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName'>
  readonly params: { readonly variables?: ExecutionArgs['variableValues'] }
  readonly context: unknown
  /** Executor arguments that other plugins added. */
  readonly added?: object | undefined
  /** Executor that returns a result in parts. Plans do not support this. */
  readonly executor?: unknown
}

/** Envelop plugin. On a Yoga server, it reports types that are missing in the schema at startup. */
export type SourcesPlugin = Plugin & {
  onYogaInit(): void
  /** Behaviour for the pipeline of a Yoga server. Envelop without the pipeline calls the hooks. */
  readonly behaviour: {
    plan<Operation extends PlannedOperation>(
      operation: Operation,
      next: (operation: Operation) => unknown,
    ): unknown
  }
}

/** Options for all responses and schemas of a server. */
export interface SourcesOptions extends AnswerLimits {
  /**
   * Directives of other plugins, such as `useLiveQuery().directives`. The merged schema has them from the start.
   * Default: none.
   */
  readonly directives?: readonly GraphQLDirective[] | undefined
  /**
   * Receives `true` when the server holds more than 8 MiB of unfinished responses, and `false` when it no longer
   * does. Default: not called.
   */
  readonly onLargeAnswers?: ((areHeld: boolean) => void) | undefined
}

const NAMES: KnownOptions<SourcesOptions> = {
  directives: true,
  onLargeAnswers: true,
  maxAnswerObjects: atLeast(0),
  maxAnswerBytes: atLeast(0),
}

/**
 * Adds the types and fields of sources to the schema of a server. They form the complete schema if the server has no
 * other schema. It can be used several times on one server, in any order.
 * @throws SchemaConflictError from the server's constructor if two places define the same field
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
