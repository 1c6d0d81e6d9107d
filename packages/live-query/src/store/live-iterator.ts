import type { GraphQLError } from 'graphql'
import type { LiveQueryRegistration, LiveQuerySubscription } from './registration.ts'
import type { LiveQueryStore } from './store.ts'
import { toEvent, type LiveQueryEvent } from './update.ts'

type Step = IteratorResult<LiveQueryEvent, undefined>

/**
 * Returns a live query as an async iterable. It holds at most one update, the newest, while the consumer is busy. The
 * query is registered immediately, and errors of `register` are thrown.
 */
export function iterateLiveQuery(
  store: LiveQueryStore,
  registration: Omit<LiveQueryRegistration, 'channel'>,
  signal?: AbortSignal,
): AsyncIterableIterator<LiveQueryEvent> {
  let waiting: ((step: Step) => void) | undefined
  let subscription: LiveQuerySubscription | undefined
  let ended: { readonly errors?: readonly GraphQLError[] | undefined } | undefined

  function end(errors?: readonly GraphQLError[]): void {
    ended ??= { errors }
    signal?.removeEventListener('abort', stop)
    const resolve = waiting
    waiting = undefined
    resolve?.(lastStep())
  }

  /** Errors that end the query are its last result. */
  function lastStep(): Step {
    const errors = ended?.errors
    if (!errors) return { done: true, value: undefined }
    ended = {}
    return { done: false, value: { errors } as unknown as LiveQueryEvent }
  }

  function stop(): void {
    if (subscription) store.unregister(subscription.id)
    end()
  }

  subscription = store.register({
    ...registration,
    channel: {
      ready: () => waiting !== undefined,
      next(delivery) {
        const resolve = waiting
        waiting = undefined
        resolve?.({ done: false, value: toEvent(delivery, subscription?.id ?? registration.id ?? '') })
      },
      end,
    },
  })
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      if (ended) return Promise.resolve(lastStep())
      return new Promise<Step>((resolve) => {
        waiting = resolve
        subscription?.flush()
      })
    },
    return() {
      stop()
      return Promise.resolve({ done: true, value: undefined })
    },
  }
}
