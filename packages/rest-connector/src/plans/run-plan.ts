import type { ExecutionArgs } from 'graphql'
import { signalsOf } from '../signals.ts'
import type { FieldScope } from '../call.ts'
import type { Args } from '../template.ts'
import type { Variables } from './coerce-variables.ts'
import type { Plan } from './compile-operation.ts'
import { loadJoins, type JoinRun } from './load-joins.ts'
import { hasJoins } from './object-plan.ts'
import type { Executor } from './plain-executor.ts'
import { createPlannedResult } from './planned-result.ts'
import { withReplies } from './recorded-replies.ts'
import { Unsure } from './unsure.ts'

export interface PlanRun {
  readonly plan: Plan
  readonly variables: Variables
  readonly args: ExecutionArgs
  /** Executes in the plan's place when it gives up; then `onFallBack` is told why. */
  readonly execute: Executor
  readonly onFallBack: (reason: string) => void
}

/**
 * Makes the calls of a plan and puts the answer together. Where a call fails, or brings what is not for a plan to
 * answer, ordinary execution takes over with the calls as they are: none is made again.
 */
export async function runPlan({ plan, variables, args, execute, onFallBack }: PlanRun): Promise<unknown> {
  const context = args.contextValue as object
  const given: Args[] = []
  for (const { argumentsOf } of plan.calls) {
    const values = argumentsOf(variables)
    if (!values) {
      onFallBack('an argument is wrong')
      return execute(args)
    }
    given.push(values)
  }
  // The variables stand for the execution, to count its calls.
  const scope: FieldScope = {
    signals: signalsOf(context, executionSignal(args)),
    context,
    operation: { ...variables },
  }
  const joins: JoinRun = { variables, scope, joined: new Map(), recorded: new Map() }
  const pending = plan.calls.map(({ endpoint }, index) => endpoint.call(given[index] as Args, scope))
  try {
    const values = await Promise.all(pending)
    await Promise.all(
      plan.calls.map(({ value }, index) =>
        value.object && hasJoins(value.object) ? loadJoins(value.object, [values[index]], joins) : undefined,
      ),
    )
    return createPlannedResult(write(values))
  } catch (error) {
    return fallBack(error instanceof Unsure ? error.message : 'a call failed or was given up')
  }

  function write(values: readonly unknown[]): string {
    let json = plan.between[0] as string
    for (const [index, { value }] of plan.calls.entries())
      json += value.write(values[index], joins.joined) + (plan.between[index + 1] as string)
    return json
  }

  function fallBack(reason: string): unknown {
    onFallBack(reason)
    const roots = new Map(plan.calls.map(({ key }, index) => [key, pending[index] as Promise<unknown>]))
    for (const { items } of joins.recorded.values()) items.catch(() => {})
    return execute(withReplies(args, plan.operation, { roots, joins: joins.recorded }))
  }
}

/** `signal` is `@graphql-tools/executor`'s name, `abortSignal` graphql's. */
function executionSignal(args: ExecutionArgs): unknown {
  const { signal, abortSignal = signal } = args as {
    readonly signal?: unknown
    readonly abortSignal?: unknown
  }
  return abortSignal
}
