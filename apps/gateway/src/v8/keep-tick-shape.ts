import { executionAsyncResource } from 'node:async_hooks'

/** Of the objects in which Node keeps what `process.nextTick` is to call. */
const kept = new Set<object>()

/**
 * V8 forgets the shape of objects of which a collection finds none, and the code that makes such objects is slow from then
 * on. Between requests there are no ticks: the first collection of a quiet moment makes `process.nextTick` four times as
 * dear, and each request calls it some seven times. One tick that is kept keeps their shape, if it is kept
 * before that: this is called before anything else.
 */
export function keepTickShape(): void {
  process.nextTick(() => {
    kept.add(executionAsyncResource())
  })
}
