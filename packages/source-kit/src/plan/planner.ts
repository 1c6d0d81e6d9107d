import { createRoom, placeOf, type Room, type JsonText } from '@vinyasa/core'
import { type AnswerLimits, type AnswerWatcher, beginAnswer } from '@vinyasa/core/documents'
import * as graphql from 'graphql'
import {
  getOperationAST,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import { boundLater, giveUpIfLeft } from '../answer/bound-answer.ts'
import type { Plan } from './compile-plan.ts'
import type { Site } from './fast-path.ts'
import { OperationPlans } from './operation-plans.ts'
import type { PlanEvent } from './plan-event.ts'
import { createJsonResult, interleave } from '../answer/json-result.ts'
import { withRecorded } from './recorded.ts'
import { FallBack } from './refusals.ts'

export type Executor = (args: ExecutionArgs) => unknown

/** graphql 17 executes documents of schemas with `@defer` by another function. */
const { experimentalExecuteIncrementally: incrementally } = graphql as {
  readonly experimentalExecuteIncrementally?: Executor
}

/**
 * The interpreter of the server or of graphql, as a function that executes any document; undefined for everything else:
 * another plugin put it there for a reason.
 */
function plainExecutor(executor: Executor, own: Executor | undefined): Executor | undefined {
  if (executor === incrementally || executor === own) return executor
  return executor === graphql.execute ? (incrementally ?? executor) : undefined
}

/**
 * Makes the calls of a plan and puts the answer together. Where a call fails, or brings what is not for a plan to
 * answer, `execute` takes over with the calls as they are: none is made again. Then `onFallBack` is told why. Nothing takes
 * over if the answer is too large or its client has left.
 */
async function runPlan(
  { sources, between }: Plan,
  site: Site,
  execute: Executor,
  onFallBack: (reason: string) => void,
): Promise<unknown> {
  const started = sources.map(({ prepared }) => prepared.start(site))
  try {
    const [only] = started
    const written =
      only && started.length === 1 ? [await only.json] : await Promise.all(started.map(({ json }) => json))
    const fields: JsonText[] = []
    for (const [index, { places }] of sources.entries())
      for (const [at, place] of places.entries()) fields[place] = written[index]?.[at] as JsonText
    for (const { length } of fields) site.size.add(0, length)
    site.size.done()
    return createJsonResult(between.length === 0 ? (fields[0] as JsonText) : interleave(between, fields))
  } catch (error) {
    giveUpIfLeft(site.size, site.args.contextValue)
    const { refusal } = site.size
    if (refusal) {
      site.size.done()
      for (const { recorded } of started) recorded()
      return { errors: [refusal] }
    }
    onFallBack(
      error instanceof FallBack
        ? error.message
        : 'a call to a backend failed, was cancelled or could not be made',
    )
    return execute(
      withRecorded(
        site.args,
        started.map(({ recorded }) => recorded()),
      ),
    )
  }
}

/** Answers the operations of one server by plans, whatever the number of sources. */
export interface Planner {
  /** Tells of operations whose first root field is of this source; the first to listen hears of others' too. */
  listen(source: string, onPlan: (event: PlanEvent) => void): void
  /** Says which interpreter is the server's own. */
  trust(executor: Executor | undefined): void
  /**
   * An executor that answers an operation by a plan; undefined where there is none, or where `executor` is not a plain
   * interpreter but something that another plugin put in its place.
   */
  plan(args: ExecutionArgs, executor: Executor): Executor | undefined
  /** Answers by a plan, on the server's own interpreter; undefined where there is none. */
  run(args: ExecutionArgs): unknown
}

interface KnownDocument {
  readonly schema: GraphQLSchema
  readonly operations: Map<OperationDefinitionNode, OperationPlans>
}

/** Bytes of the plans of documents that nobody else keeps; those of others have their room with them. */
const MAX_BYTES = 64 * 1024 * 1024

/** `limits`: of the answers, asked for each. `watcher` hears of those that are large. */
export function createPlanner(limits: () => AnswerLimits, watcher?: AnswerWatcher): Planner {
  const listeners = new Map<string, (event: PlanEvent) => void>()
  const room = createRoom(MAX_BYTES)
  let own: Executor | undefined
  // Servers hand out one document for one query text, and forget it some time.
  const documents = new WeakMap<DocumentNode, KnownDocument>()

  function roomOf(document: DocumentNode): Pick<Room, 'hold'> {
    return placeOf(document) ?? room
  }

  function plansOf({ schema, document, operationName }: ExecutionArgs): OperationPlans | undefined {
    const operation = getOperationAST(document, operationName)
    if (!operation) return undefined
    let known = documents.get(document)
    if (known?.schema !== schema) documents.set(document, (known = { schema, operations: new Map() }))
    let plans = known.operations.get(operation)
    if (!plans)
      known.operations.set(operation, (plans = new OperationPlans(schema, document, operation, roomOf)))
    return plans
  }

  interface Found {
    readonly plans: OperationPlans
    readonly plan: Plan
    readonly own: () => Site
  }

  function find(args: ExecutionArgs): Found | undefined {
    const plans = plansOf(args)
    const variables = plans?.coerce(args.variableValues ?? {})
    if (!plans || !variables) return undefined
    const { plan, reason, isNew } = plans.find(variables)
    if (isNew) report(plans, plan ? 'planned' : 'unplanned', reason)
    // Known by its variables, an execution has some of its own.
    const own = (): Site => {
      const size = beginAnswer(args.contextValue, limits())
      size.watcher = watcher
      const isOneCall = plan?.isOneCall === true
      const { operation } = plans
      return { isOneCall, operation, variables: { ...variables }, args, size, shared: new Map() }
    }
    return plan && { plans, plan, own }
  }

  function report(
    { operation, sources }: OperationPlans,
    outcome: PlanEvent['outcome'],
    reason: string | undefined,
  ): void {
    const concerned = sources.find((source) => listeners.has(source))
    const [first] = listeners.values()
    const onPlan = concerned === undefined ? first : listeners.get(concerned)
    try {
      onPlan?.({ operationName: operation.name?.value, outcome, reason })
    } catch {
      // A listener that throws must not fail the operation.
    }
  }

  function answer({ plan, plans, own }: Found, execute: Executor): unknown {
    const site = own()
    const ordinarily: Executor = (args) => {
      const size = beginAnswer(args.contextValue, limits(), site.size)
      return boundLater(size, execute(args), args.contextValue)
    }
    return runPlan(plan, site, ordinarily, (reason) => report(plans, 'fell-back', reason))
  }

  return {
    listen: (source, onPlan) => void listeners.set(source, onPlan),
    trust: (executor) => void (own = executor),
    plan(args, executor) {
      const execute = plainExecutor(executor, own)
      if (!execute || !canPlan(args) || !find(args)) return undefined
      return (given) => {
        // Plugins after this one may have put another document in place.
        const found = canPlan(given) ? find(given) : undefined
        return found ? answer(found, execute) : execute(given)
      }
    },
    run(args) {
      const found = own && canPlan(args) ? find(args) : undefined
      return found && own && answer(found, own)
    },
  }
}

function canPlan({ contextValue, fieldResolver, typeResolver }: ExecutionArgs): boolean {
  return typeof contextValue === 'object' && contextValue !== null && !fieldResolver && !typeResolver
}
