export type MaybePromise<T> = T | Promise<T>

export function isPromise(value: unknown): value is Promise<unknown> {
  if (typeof value !== 'object' && typeof value !== 'function') return false
  return typeof (value as PromiseLike<unknown> | null)?.then === 'function'
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as AsyncIterable<unknown> | null | undefined)?.[Symbol.asyncIterator] === 'function'
}
