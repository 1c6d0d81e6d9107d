import { getOperationAST, type ExecutionArgs } from 'graphql'
import { finalAsyncIterator, mapAsyncIterator } from 'graphql-yoga'
import { isStream } from '../../fast-path/accept-choice.ts'
import { runHooks } from '../../fast-path/run-hooks.ts'
import { after, type MaybePromise } from '@vinyasa/base'
import type { Hook } from '../../yoga/yoga-5.ts'
import type { NextExecutor, ShortCall, ShortWayPart } from '../part.ts'

type Execute = (args: ExecutionArgs) => MaybePromise<unknown>

/** What an `onExecute` hook may return. */
interface AfterExecution {
  readonly onExecuteDone?: (payload: object) => MaybePromise<AfterResult | undefined>
}

interface AfterResult {
  readonly onNext?: Hook
  readonly onEnd?: () => void
}

/**
 * `onExecute` hooks of plugins that stand side by side, around what comes behind them: as Envelop runs them, where each
 * hears of results in the order of the plugins. Checked with @envelop/core 5.
 */
export function aroundBy(hooks: readonly Hook[]): NonNullable<ShortWayPart['execute']> {
  return (call, next) => {
    const args = argsOf(call)
    const afterwards: AfterExecution[] = []
    let result: unknown
    const payload = {
      executeFn: (given: ExecutionArgs) => next(callWith(call, given)),
      setExecuteFn(execute: Execute) {
        payload.executeFn = execute
      },
      setResultAndStopExecution(stopped: unknown) {
        result = stopped
      },
      context: call.context,
      extendContext(extension: object) {
        Object.assign(call.context, extension)
      },
      args,
    }
    const note = (returned: unknown): void => {
      if (returned) afterwards.push(returned as AfterExecution)
    }
    const begun = runHooks(hooks, payload, note, () => result !== undefined)
    const executed = after(begun, () => result ?? payload.executeFn({ ...args }))
    return after(executed, (value) => done(afterwards, args, value))
  }
}

function done(
  afterwards: readonly AfterExecution[],
  args: ExecutionArgs,
  given: unknown,
): MaybePromise<unknown> {
  const hooks = afterwards.flatMap(({ onExecuteDone }) => onExecuteDone ?? [])
  if (hooks.length === 0) return given
  const follow: AfterResult[] = []
  const payload = {
    args,
    result: given,
    setResult(result: unknown) {
      payload.result = result
    },
  }
  const note = (returned: unknown): void => {
    if (returned) follow.push(returned as AfterResult)
  }
  return after(runHooks(hooks as readonly Hook[], payload, note), () =>
    followed(payload.result, follow, args),
  )
}

/** A result in parts is told part by part. */
function followed(result: unknown, follow: readonly AfterResult[], args: ExecutionArgs): unknown {
  if (follow.length === 0 || !isStream(result)) return result
  const nexts = follow.flatMap(({ onNext }) => onNext ?? [])
  const ends = follow.flatMap(({ onEnd }) => onEnd ?? [])
  const told = mapAsyncIterator(result, (part: unknown) => {
    const payload = {
      args,
      result: part,
      setResult(changed: unknown) {
        payload.result = changed
      },
    }
    return after(runHooks(nexts, payload), () => payload.result) as Promise<unknown>
  })
  return ends.length === 0
    ? told
    : finalAsyncIterator(told, () => {
        for (const end of ends) end()
      })
}

/** For an executor: what Envelop hands to Yoga's. */
export function argsOf({ operation, params, context }: ShortCall): ExecutionArgs {
  const { schema, document, operationName } = operation
  const { variables: variableValues } = params
  return { schema, document, contextValue: context, variableValues, operationName } as ExecutionArgs
}

/** The call that a hook has made of one. */
function callWith(call: ShortCall, args: ExecutionArgs): ShortCall {
  const { schema, document, variableValues: variables, operationName, contextValue } = args
  const { operation, params, context } = call
  const isSame =
    schema === operation.schema &&
    document === operation.document &&
    operationName === operation.operationName
  if (isSame && variables === params.variables && contextValue === context) return call
  const definition = getOperationAST(document, operationName) ?? operation.definition
  return {
    ...call,
    operation: isSame ? operation : { schema, document, definition, operationName },
    params: { ...params, variables },
    context: contextValue as ShortCall['context'],
    sameBody: undefined,
  }
}

/** The executor behind all that stands around it. */
export function compose(
  arounds: readonly NonNullable<ShortWayPart['execute']>[],
  innermost: NextExecutor,
): NextExecutor {
  return arounds.reduceRight<NextExecutor>((next, around) => (call) => around(call, next), innermost)
}
