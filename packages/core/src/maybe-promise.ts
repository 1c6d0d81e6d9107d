/** Value or promise. Check it before awaiting, because awaiting a value costs a microtask. */
export type MaybePromise<T> = T | Promise<T>

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as AsyncIterable<unknown> | null | undefined)?.[Symbol.asyncIterator] === 'function'
}

/** Calls `proceed` with the value, synchronously if it is not a promise. */
export function after<T, R>(value: MaybePromise<T>, proceed: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? value.then(proceed) : proceed(value)
}

/** Calls `run`. Handles both thrown errors and rejections with `fail`. */
export function attempt<T>(
  run: () => MaybePromise<T>,
  fail: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  try {
    const value = run()
    return isPromise(value) ? value.then(undefined, fail) : value
  } catch (error) {
    return fail(error)
  }
}
