import type { ExecutionArgs } from 'graphql'
import type { FieldScope } from '../call.ts'
import { signalsOf } from '../signals.ts'
import type { Args } from '../template.ts'
import type { Variables } from './coerce-variables.ts'
import { compileArguments, type ArgumentsOf } from './compile-arguments.ts'
import { createValueCompiler, type ValuePlan } from './compile-object.ts'
import { loadJoins, type JoinRun } from './load-joins.ts'
import { hasJoins } from './object-plan.ts'
import { markOf, type PlannableEndpoint } from './planned-field.ts'
import { withReplies } from './recorded-replies.ts'
import type { PlanShare, StartedShare } from './share.ts'
import { Unplannable } from './unplannable.ts'
import { Unsure } from './unsure.ts'

/** One root field of a plan. */
interface PlannedCall {
  /** The response name. */
  readonly key: string
  readonly endpoint: PlannableEndpoint
  readonly argumentsOf: ArgumentsOf
  readonly value: ValuePlan
}

/** Plans the fields of all connectors together: a join that several of them select is one call. */
export const planShare: PlanShare = (scope, _operation, fields) => {
  const compileValue = createValueCompiler(scope)
  const calls = fields.map(({ key, field, nodes: [node, ...others] }): PlannedCall => {
    const endpoint = markOf(field)
    if (!node || endpoint?.kind !== 'endpoint') throw new Unplannable(`${field.name} has another resolver`)
    return {
      key,
      endpoint,
      argumentsOf: compileArguments(field, node),
      value: compileValue(field.type, [node, ...others], false),
    }
  })
  return { start: (variables, args) => start(calls, variables, args) }
}

function start(calls: readonly PlannedCall[], variables: Variables, args: ExecutionArgs): StartedShare {
  const context = args.contextValue as object
  const given: Args[] = []
  for (const { argumentsOf } of calls) {
    const values = argumentsOf(variables)
    if (!values)
      return {
        json: Promise.reject(new Unsure('an argument is wrong')),
        replay: (replayed, execute) => execute(replayed),
      }
    given.push(values)
  }
  // The variables stand for the execution, to count its calls.
  const scope: FieldScope = {
    signals: signalsOf(context, executionSignal(args)),
    context,
    operation: { ...variables },
  }
  const joins: JoinRun = { variables, scope, joined: new Map(), recorded: new Map(), isOver: false }
  const pending = calls.map(({ endpoint }, index) => endpoint.call(given[index] as Args, scope))
  return {
    json: write(calls, pending, joins),
    replay(replayed, execute) {
      joins.isOver = true
      const roots = new Map(calls.map(({ key }, index) => [key, pending[index] as Promise<unknown>]))
      // Execution may end before it looks at every field.
      for (const reply of roots.values()) reply.catch(() => {})
      for (const { items } of joins.recorded.values()) items.catch(() => {})
      return execute(withReplies(replayed, { roots, joins: joins.recorded }))
    },
  }
}

async function write(
  calls: readonly PlannedCall[],
  pending: readonly Promise<unknown>[],
  joins: JoinRun,
): Promise<string[]> {
  const values = await Promise.all(pending)
  await Promise.all(
    calls.map(({ value }, index) =>
      value.object && hasJoins(value.object) ? loadJoins(value.object, [values[index]], joins) : undefined,
    ),
  )
  return calls.map(({ value }, index) => value.write(values[index], joins.joined))
}

/** `signal` is `@graphql-tools/executor`'s name, `abortSignal` graphql's. */
function executionSignal(args: ExecutionArgs): unknown {
  const { signal, abortSignal = signal } = args as {
    readonly signal?: unknown
    readonly abortSignal?: unknown
  }
  return abortSignal
}
