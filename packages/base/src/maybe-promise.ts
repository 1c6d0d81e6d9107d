/** A value that may be there already. Awaiting what is no promise costs a turn of the microtask queue. */
export type MaybePromise<T> = T | Promise<T>

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as AsyncIterable<unknown> | null | undefined)?.[Symbol.asyncIterator] === 'function'
}

/** Goes on at once with what is no promise. */
export function after<T, R>(value: MaybePromise<T>, proceed: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? value.then(proceed) : proceed(value)
}

/** Catches what is thrown at once and what a promise rejects with alike. */
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
