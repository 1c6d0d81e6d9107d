import { after, type MaybePromise } from '@vinyasa/core'
import { argsOf, withBehaviour } from '@vinyasa/core/pipeline'
import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql'
import type { Plugin } from 'graphql-yoga'

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

/** Asks a guard before each operation that the cache does not answer, however it came. */
export function useGuard(guard: Guard): Plugin {
  const plugin: Plugin = {
    onSubscribe({ args, subscribeFn, setSubscribeFn, setResultAndStopExecution }) {
      return after(guard(args, true), (verdict) => {
        const { result, schemaFor, done } = verdict ?? {}
        if (result) setResultAndStopExecution(result as never)
        if (schemaFor)
          setSubscribeFn((given: ExecutionArgs) =>
            subscribeFn({ ...given, schema: schemaFor(given.contextValue) }),
          )
        return (
          done && {
            onSubscribeResult({ result: given, setResult }) {
              const changed = done(given)
              if (changed !== given) setResult(changed as never)
            },
          }
        )
      })
    },
  }
  return withBehaviour(plugin, {
    execute(operation, next) {
      return after(guard(argsOf(operation), false), (verdict) => {
        if (!verdict) return next(operation)
        if (verdict.result) {
          operation.progress.isRefused = true
          return verdict.result
        }
        const { schemaFor, done } = verdict
        const { prepared, context } = operation
        const guarded = schemaFor && {
          ...operation,
          prepared: { ...prepared, schema: schemaFor(context) },
          sameBytes: undefined,
        }
        const result = next(guarded ?? operation)
        return done ? after(result, done) : result
      })
    },
  })
}
