import type { ExecutionArgs } from 'graphql'
import type { Args } from '../template.ts'
import type { Variables } from './coerce-variables.ts'
import { compileArguments, type ArgumentsOf } from './compile-arguments.ts'
import { createValueCompiler, type ValuePlan } from './compile-object.ts'
import { createJoinRun, type JoinRun } from './join-run.ts'
import { loadJoins, type Loaded } from './load-joins.ts'
import { markOf, type PlannableEndpoint } from './planned-field.ts'
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
export const planShare: PlanShare = (scope, operation, fields) => {
  const compiler = createValueCompiler(scope, operation)
  const calls = fields.map(({ key, field, nodes: [node, ...others] }): PlannedCall => {
    const endpoint = markOf(field)
    if (!node || endpoint?.kind !== 'endpoint') throw new Unplannable(`${field.name} has another resolver`)
    return {
      key,
      endpoint,
      argumentsOf: compileArguments(field, node),
      value: compiler.value(field.type, [node, ...others], false),
    }
  })
  return { start: (variables, args) => start(calls, variables, args) }
}

function start(calls: readonly PlannedCall[], variables: Variables, args: ExecutionArgs): StartedShare {
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
  const run = createJoinRun(variables, args)
  const pending = calls.map(({ endpoint }, index) => endpoint.call(given[index] as Args, run.scope))
  return {
    json: write(calls, pending, run),
    replay(replayed, execute) {
      const roots = new Map(calls.map(({ key }, index) => [key, pending[index] as Promise<unknown>]))
      // Execution may end before it looks at every field.
      for (const reply of roots.values()) reply.catch(() => {})
      return run.replay(roots, replayed, execute)
    },
  }
}

async function write(
  calls: readonly PlannedCall[],
  pending: readonly Promise<unknown>[],
  run: JoinRun,
): Promise<string[]> {
  const values = await Promise.all(pending)
  const loaded: Loaded = new Map()
  await Promise.all(
    calls.map(({ value: { object } }, index) => object && loadJoins(object, [values[index]], run, loaded)),
  )
  return calls.map(({ value }, index) => value.write(values[index], loaded))
}
