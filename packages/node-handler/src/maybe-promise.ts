export type MaybePromise<T> = T | PromiseLike<T>

/** Awaiting what is no promise costs a turn of the microtask queue; most hooks return nothing. */
export function isPromiseLike<T>(value: MaybePromise<T>): value is PromiseLike<T> {
  return value != null && typeof (value as { then?: unknown }).then === 'function'
}
