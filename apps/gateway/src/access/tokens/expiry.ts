import { atWallTime, backgroundClock, type Clock, OpenStreams } from '@vinyasa/base'
import type { ExecutionResult } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { unauthenticated } from '../errors.ts'
import { identityOf } from '../../context/identity.ts'
import { withBehaviour } from '../../behaviour.ts'

/** Ends subscriptions with `UNAUTHENTICATED` when the token expires by which they were allowed. */
export function useTokenExpiry(clock: Clock = backgroundClock): Plugin {
  const subscribed = new WeakSet<object>()
  return withBehaviour({
    onSubscribe({ args }) {
      subscribed.add(args.contextValue as object)
    },
    // Around all that Envelop does with results, which makes a result of what a stream throws.
    onExecutionResult({ result, context, setResult }) {
      const identity = subscribed.has(context) ? identityOf(context) : undefined
      if (!identity || !isAsyncIterable(result)) return
      const isSocket = 'connectionParams' in context
      setResult(until(identity.expiresAt, result, { clock, isSocket }) as never)
    },
  })
}

/** By hand: an async generator would not hear of a client that leaves before its next result. */
function until(
  expiresAt: number,
  results: AsyncIterable<ExecutionResult>,
  { clock, isSocket }: { readonly clock: Clock; readonly isSocket: boolean },
): AsyncIterableIterator<ExecutionResult> {
  // No race with a promise that lives as long as the token: it would keep every result until then.
  const open = new OpenStreams()
  const stream = open.add(results[Symbol.asyncIterator]())
  let hasExpired = false
  const timer = atWallTime(clock, expiresAt, () => {
    hasExpired = true
    open.close()
  })

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      const step = (await stream.next()) as IteratorResult<ExecutionResult>
      if (!step.done) return step
      timer.stop()
      if (!hasExpired) return step
      hasExpired = false
      const error = unauthenticated('The token has expired; subscribe again with a new token.', true)
      // On a socket the message `error`; an event stream has no such thing.
      if (isSocket) throw error
      return { done: false, value: { errors: [error] } }
    },
    async return() {
      timer.stop()
      // Not awaited: a source that hangs must not hold the end up.
      open.close()
      return { done: true, value: undefined }
    },
  }
}
