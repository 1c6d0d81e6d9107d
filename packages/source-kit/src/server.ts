import { keyed } from '@vinyasa/base'
import type { AnswerLimits } from '@vinyasa/yoga-internals'
import type { GraphQLDirective, GraphQLSchema } from 'graphql'
import { createAnswerTurns } from './answer/answer-turns.ts'
import { createHeldAnswers } from './answer/held-answers.ts'
import { countObjects } from './answer/count-objects.ts'
import { createPlanner, type Planner } from './plan/planner.ts'
import { ensureQuery } from './schema/ensure-query.ts'
import { mergeSources, type Merged } from './schema/merge-sources.ts'
import { missingError } from './missing-error.ts'
import type { Source } from './schema/source.ts'

/** The state that all sources of one server share. */
export interface SourceServer {
  readonly planner: Planner
  readonly limits: AnswerLimits
  /** Sets limits for all answers; each of those who bring sources may do so. */
  limit(limits: AnswerLimits): void
  /** Gives directives to all schemas that are made. */
  direct(directives: readonly GraphQLDirective[]): void
  /** Says whether large answers are held, whenever that changes. */
  onLargeAnswers(listener: (areHeld: boolean) => void): void
  /** Has the objects of this schema's answers counted. */
  count(schema: GraphQLSchema): void
  /** True for the first to be added, which plans for all. */
  add(sources: readonly Source[]): boolean
  /** A schema with what sources add to it; undefined where it has all of that. */
  extend(schema: GraphQLSchema): GraphQLSchema | undefined
  /** The schema of a server that has no other; undefined where it has one. */
  whole(): GraphQLSchema | undefined
  /**
   * The schema anew, after a source has changed; undefined before there was one.
   * @throws SchemaConflictError where it would lack what it had; it stays as it was
   */
  renew(): GraphQLSchema | undefined
  /** @throws SchemaConflictError where a field waits for a type, or for a field of its parent, that nothing defines */
  refuseMissingTypes(): void
}

function createServer(): SourceServer {
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
    get limits() {
      return limits
    },
    count(schema) {
      if (counted.has(schema)) return
      counted.add(schema)
      countObjects(schema, answerTurns)
    },
    direct: (given) => void directives.push(...given),
    limit: (given) => void (limits = { ...limits, ...given }),
    onLargeAnswers: (listener) => void listeners.add(listener),
    add(added) {
      const isFirst = sources.length === 0
      sources.push(...added)
      for (const { id, onPlan } of added) if (onPlan) planner.listen(id, onPlan)
      return isFirst
    },
    extend(schema) {
      if (made.has(schema)) return undefined
      base = schema
      const extended = merge(schema)
      return extended === schema ? undefined : extended
    },
    whole: () => (current ? undefined : merge(null)),
    renew() {
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
    refuseMissingTypes() {
      const [first] = current?.pending ?? []
      if (current && first) throw missingError(current.schema, first)
    },
  }
}

/** By the list of plugins, which all plugins of a server are handed. */
export const serverOf: (plugins: object) => SourceServer = keyed(createServer, new WeakMap())
