import * as graphql from 'graphql'
import type { ExecutionArgs } from 'graphql'
import { finalAsyncIterator, mapAsyncIterator } from 'graphql-yoga'
import { after, isAsyncIterable, type MaybePromise } from '../index.ts'
import type { Behaviour } from './behaviour.ts'
import { argsOf, type Execute as Next, withArgs } from './operation.ts'
import { type Hook, runHooks } from './yoga.ts'

type Execute = (args: ExecutionArgs) => MaybePromise<unknown>

const LOOK = Symbol('look')

/**
 * Accessor that all payloads share. A separate accessor would give each payload its own hidden class in V8,
 * which outlives the request.
 */
const EXECUTE_FN: PropertyDescriptor & ThisType<{ readonly [LOOK]: () => Execute }> = {
  enumerable: true,
  get() {
    return this[LOOK]()
  },
}

/** The value that an `onExecute` hook may return. */
interface AfterExecution {
  readonly onExecuteDone?: (payload: object) => MaybePromise<AfterResult | undefined>
}

interface AfterResult {
  readonly onNext?: Hook
  readonly onEnd?: () => void
}

/**
 * Wraps the rest of the execution with the `onExecute` hooks of adjacent plugins, as Envelop does. Each
 * plugin receives the results in the order of the plugins. Checked with @envelop/core 5.
 */
export function aroundBy(hooks: readonly Hook[]): NonNullable<Behaviour['execute']> {
  return (operation, next) => {
    const args = argsOf(operation)
    const { context } = operation
    const afterwards: AfterExecution[] = []
    let result: unknown
    const goOn: Execute = (given) => {
      const isSame = executeFn === goOn || operation.isWrapped
      return next(withArgs(isSame ? operation : { ...operation, isWrapped: true }, given))
    }
    let executeFn = goOn
    /** Replaced innermost executor, for a replacement that calls it later. */
    let innermost: Execute | undefined
    /**
     * Replaces the innermost executor. Later plugins still wrap the replacement, because the last plugin is
     * outermost in Envelop.
     */
    const inPlace =
      (execute: Execute): Execute =>
      (given) =>
        next({
          ...withArgs(operation, given),
          isWrapped: true,
          executor(inner, ordinarily) {
            innermost = ordinarily
            return execute(inner)
          },
        })
    // Envelop masks only the errors of executed results.
    const setResultAndStopExecution = (stopped: unknown): void => {
      result = stopped
      operation.progress.isFinal = true
    }
    const extendContext = (extension: object): void => void Object.assign(context, extension)
    // Each hook keeps the executor that it received, even if later hooks replace the executor. A hook that sets
    // an executor without reading the previous executor does not wrap it.
    const calls = hooks.map((hook) => () => {
      const before = executeFn
      let isIgnored = false
      let isLookedAt = false
      const look = (): Execute => {
        if (isIgnored) return (given) => (innermost ?? before)(given)
        isLookedAt = true
        return before
      }
      const setExecuteFn = (execute: Execute): void => {
        isIgnored = !isLookedAt
        if (isInterpreter(execute)) executeFn = goOn
        else executeFn = isIgnored ? inPlace(execute) : execute
      }
      const payload = { [LOOK]: look, setExecuteFn, setResultAndStopExecution, context, extendContext, args }
      return hook(Object.defineProperty(payload, 'executeFn', EXECUTE_FN))
    })
    const note = (returned: unknown): void => {
      if (returned) afterwards.push(returned as AfterExecution)
    }
    const begun = runHooks(calls, args, note, () => result !== undefined)
    const executed = after(begun, () => result ?? (operation.isForced ? goOn : executeFn)({ ...args }))
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
  let result = given
  const setResult = (changed: unknown): void => void (result = changed)
  const calls = hooks.map((hook) => () => hook({ args, result, setResult }))
  const note = (returned: unknown): void => {
    if (returned) follow.push(returned as AfterResult)
  }
  return after(runHooks(calls, args, note), () => followed(result, follow, args))
}

/** Calls `onNext` for each part of a stream, and `onEnd` at its end. */
function followed(result: unknown, follow: readonly AfterResult[], args: ExecutionArgs): unknown {
  if (follow.length === 0 || !isAsyncIterable(result)) return result
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

/** Returns the innermost executor with all wrappers. The first wrapper is the outermost. */
export function compose(arounds: readonly NonNullable<Behaviour['execute']>[], innermost: Next): Next {
  return arounds.reduceRight<Next>((next, around) => (operation) => around(operation, next), innermost)
}

/** graphql 17 has a separate function for schemas with `@defer`. */
const { experimentalExecuteIncrementally: incrementally } = graphql as {
  readonly experimentalExecuteIncrementally?: (args: ExecutionArgs) => unknown
}

/** graphql's own executor. */
export const interpreter: (args: ExecutionArgs) => unknown = incrementally ?? graphql.execute

/**
 * Returns whether a function is graphql's own executor. Plugins such as `useEngine` set this executor. It can
 * be ignored, because the inner executor of the pipeline does the same and more.
 */
function isInterpreter(execute: unknown): boolean {
  return execute === graphql.execute || execute === interpreter
}
