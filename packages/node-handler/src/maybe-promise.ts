export type MaybePromise<T> = T | PromiseLike<T>

/** Awaiting what is no promise costs a turn of the microtask queue; most hooks return nothing. */
export function isPromiseLike<T>(value: MaybePromise<T>): value is PromiseLike<T> {
  return value != null && typeof (value as { then?: unknown }).then === 'function'
}

/** Goes on at once with what is no promise. */
export function after<T, R>(value: MaybePromise<T>, proceed: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromiseLike(value) ? value.then(proceed) : proceed(value)
}

/** Catches what is thrown at once and what a promise rejects with alike. */
export function attempt<T>(
  run: () => MaybePromise<T>,
  fail: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  try {
    const value = run()
    return isPromiseLike(value) ? value.then(undefined, fail) : value
  } catch (error) {
    return fail(error)
  }
}
