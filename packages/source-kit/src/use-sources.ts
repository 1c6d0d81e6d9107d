import type { Plugin } from '@envelop/core'
import {
  atLeast,
  type KnownOptions,
  refuseWrongOptions,
  keyed,
  nearestNames,
  yogasExecutor,
} from '@vinyasa/core'
import { type AnswerLimits, beginAnswer } from '@vinyasa/core/documents'
import {
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLDirective,
  GraphQLSchema,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  isObjectType,
} from 'graphql'
import { boundAnswer, boundLater } from './answer/bound-answer.ts'
import { type Source, SchemaConflictError } from './schema/source.ts'
import { createAnswerTurns } from './answer/answer-turns.ts'
import { createHeldAnswers } from './answer/held-answers.ts'
import { countObjects } from './answer/count-objects.ts'
import { createPlanner, type Executor } from './plan/planner.ts'
import { mergeSources, type Merged } from './schema/merge-sources.ts'
import { hiddenOf } from './own/names.ts'
import type { Pending } from './schema/add-fields.ts'

/** The most fields of a type that an error lists. */
const MAX_LISTED = 20

/** For a field that waits for what nothing has brought: what that is, and what its parent has. */
function missingError(schema: GraphQLSchema, { field, missing }: Pending): SchemaConflictError {
  const { parent, name, origin } = field
  const wanted = missing.split('.')[1]
  const hint = wanted === undefined ? '' : hintFor(parent, wanted, keyNames(schema, parent))
  return new SchemaConflictError(
    `field ${parent}.${name} of ${origin} needs ${missing}, which is not defined; ` +
      `${hint}declare ${missing}, or add the source that defines it`,
    [origin],
  )
}

function hintFor(parent: string, wanted: string, known: readonly string[]): string {
  if (known.length === 0) return ''
  const [near] = nearestNames(wanted, known, 1)
  const listed = known.slice(0, MAX_LISTED).join(', ') + (known.length > MAX_LISTED ? ', …' : '')
  return `the fields of ${parent} are ${listed}; use one of them${near === undefined ? '' : ` (did you mean "${near}"?)`}, `
}

/** The fields that a join to a type may read. */
function keyNames(schema: GraphQLSchema, parent: string): readonly string[] {
  const type = schema.getType(parent)
  if (!isObjectType(type)) return []
  const types = [type, ...hiddenOf(type.extensions)]
  return types.flatMap((one) => Object.keys(one.getFields())).toSorted()
}

/** GraphQL requires a query field, and services may have none that reads: then there is `Query._sources`. */
function ensureQuery(schema: GraphQLSchema, sources: number): GraphQLSchema {
  if (schema.getQueryType()) return schema
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: {
      _sources: {
        type: new GraphQLNonNull(GraphQLInt),
        description:
          'The number of sources of this schema. This field exists because GraphQL requires at least one query field, and the sources define none.',
        resolve: () => sources,
        extensions: { dependsOn: [], origin: 'source-kit' },
      },
    },
  })
  return new GraphQLSchema({ ...schema.toConfig(), query })
}

type SourceServer = ReturnType<typeof createServer>

/** Creates the state that all sources of one server share. */
function createServer() {
  const sources: Source[] = []
  const directives: GraphQLDirective[] = []
  let limits: AnswerLimits = {}
  const listeners = new Set<(areLarge: boolean) => void>()
  const heldAnswers = createHeldAnswers((areLarge) => {
    for (const listener of listeners) listener(areLarge)
  })
  const planner = createPlanner(() => limits, heldAnswers)
  const answerTurns = createAnswerTurns(() => limits, heldAnswers)
  /** Servers may set the same schema again for each request. */
  let merged = new WeakMap<GraphQLSchema, Merged>()
  const made = new WeakSet<GraphQLSchema>()
  const counted = new WeakSet<GraphQLSchema>()
  /** The last schema that came from elsewhere; null: there is none. */
  let base: GraphQLSchema | null = null
  let current: Merged | undefined

  function mergeAll(schema: GraphQLSchema | null): Merged {
    const { schema: whole, pending } = mergeSources(schema, sources, directives)
    return { schema: ensureQuery(whole, sources.length), pending }
  }

  function merge(schema: GraphQLSchema | null): GraphQLSchema {
    current = (schema && merged.get(schema)) ?? mergeAll(schema)
    if (schema) merged.set(schema, current)
    made.add(current.schema)
    return current.schema
  }

  return {
    planner,
    get limits(): AnswerLimits {
      return limits
    },
    /** Has the objects of this schema's answers counted. */
    count(schema: GraphQLSchema): void {
      if (counted.has(schema)) return
      counted.add(schema)
      countObjects(schema, answerTurns)
    },
    /** Gives directives to all schemas that are made. */
    direct: (given: readonly GraphQLDirective[]) => void directives.push(...given),
    /** Sets limits for all answers; each of those who bring sources may do so. */
    limit: (given: AnswerLimits) => void (limits = { ...limits, ...given }),
    /** Says whether large answers are held, whenever that changes. */
    onLargeAnswers: (listener: (areHeld: boolean) => void) => void listeners.add(listener),
    /** True for the first to be added, which plans for all. */
    add(added: readonly Source[]): boolean {
      const isFirst = sources.length === 0
      sources.push(...added)
      for (const { id, onPlan } of added) if (onPlan) planner.listen(id, onPlan)
      return isFirst
    },
    /** A schema with what sources add to it; undefined where it has all of that. */
    extend(schema: GraphQLSchema): GraphQLSchema | undefined {
      if (made.has(schema)) return undefined
      base = schema
      const extended = merge(schema)
      return extended === schema ? undefined : extended
    },
    /** The schema of a server that has no other; undefined where it has one. */
    whole: () => (current ? undefined : merge(null)),
    /**
     * The schema anew, after a source has changed; undefined before there was one.
     * @throws SchemaConflictError where it would lack what it had; it stays as it was
     */
    renew(): GraphQLSchema | undefined {
      if (!current) return undefined
      const before = { current, merged }
      merged = new WeakMap()
      const schema = merge(base)
      const [first] = current.pending
      if (!first || before.current.pending.length > 0) return schema
      // The schema that answered until now goes on answering.
      ;({ current, merged } = before)
      throw missingError(schema, first)
    },
    /** @throws SchemaConflictError where a field waits for a type, or for a field of its parent, that nothing defines */
    refuseMissingTypes(): void {
      const [first] = current?.pending ?? []
      if (current && first) throw missingError(current.schema, first)
    },
  }
}

/** By the list of plugins, which all plugins of a server are handed. */
const serverOf: (plugins: object) => SourceServer = keyed(createServer, new WeakMap())

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
