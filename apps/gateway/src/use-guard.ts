import { after, type MaybePromise } from '@vinyasa/base'
import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { withShortWay } from './short-way.ts'

/** What is asked for, as far as guards look at it. */
export type GuardedOperation = Pick<
  ExecutionArgs,
  'schema' | 'document' | 'operationName' | 'variableValues' | 'contextValue'
>

/** What a guard makes of an operation. */
export interface Verdict {
  /** The answer in place of its execution; no guard behind this one is asked then. */
  readonly result?: ExecutionResult | undefined
  /** What it is executed on with a context, in place of its schema. */
  readonly schemaFor?: ((context: unknown) => GraphQLSchema) | undefined
  /** Is given what the operation comes to, which may be a stream, and says what becomes of it. */
  readonly done?: ((result: unknown) => unknown) | undefined
}

/** Looks at an operation that is about to be executed, or subscribed to; undefined: it goes on as it is. */
export type Guard = (
  operation: GuardedOperation,
  isSubscription: boolean,
) => MaybePromise<Verdict | undefined>

interface Starting<Fn extends (args: ExecutionArgs) => unknown> {
  readonly args: unknown
  readonly fn: Fn
  readonly setFn: (fn: Fn) => void
  readonly stop: (result: never) => void
}

/** Asks a guard before each operation that the cache does not answer, however it came. */
export function useGuard(guard: Guard): Plugin {
  function begin<Fn extends (args: ExecutionArgs) => unknown>(
    starting: Starting<Fn>,
    isSubscription: boolean,
  ) {
    return after(guard(starting.args as GuardedOperation, isSubscription), (verdict) => {
      const { result, schemaFor, done } = verdict ?? {}
      if (result) starting.stop(result as never)
      const { fn } = starting
      if (schemaFor)
        starting.setFn(((args: ExecutionArgs) => fn({ ...args, schema: schemaFor(args.contextValue) })) as Fn)
      return done
    })
  }

  const plugin: Plugin = {
    onExecute({ args, executeFn: fn, setExecuteFn: setFn, setResultAndStopExecution: stop }) {
      return after(
        begin({ args, fn, setFn, stop }, false),
        (done) => done && { onExecuteDone: ({ result, setResult }) => replace(done, result, setResult) },
      )
    },
    onSubscribe({ args, subscribeFn: fn, setSubscribeFn: setFn, setResultAndStopExecution: stop }) {
      return after(
        begin({ args, fn, setFn, stop }, true),
        (done) => done && { onSubscribeResult: ({ result, setResult }) => replace(done, result, setResult) },
      )
    },
  }
  return withShortWay(plugin, {
    execute(call, next) {
      const { operation, params, context: contextValue } = call
      const { schema, document, operationName } = operation
      const asked = { schema, document, operationName, variableValues: params.variables, contextValue }
      return after(guard(asked, false), (verdict) => {
        if (!verdict) return next(call)
        if (verdict.result) return verdict.result
        const { schemaFor, done } = verdict
        const guarded = schemaFor && { ...call, operation: { ...operation, schema: schemaFor(contextValue) } }
        const result = next(guarded ?? call)
        return done ? after(result, done) : result
      })
    },
  })
}

function replace(
  done: (result: unknown) => unknown,
  result: unknown,
  setResult: (result: never) => void,
): undefined {
  const given = done(result)
  if (given !== result) setResult(given as never)
}
