/**
 * Registered with `Symbol.for`, so that several copies of this package use the same key. Copies of a context
 * share the object under this key.
 */
const FRESHNESS = Symbol.for('vinyasa.freshness')

interface Bounded {
  [FRESHNESS]?: { until: number }
}

/** Starts an execution without a limit on the lifetime of its response. */
export function openFreshness(context: object): void {
  Reflect.set(context, FRESHNESS, { until: Infinity })
}

/**
 * Limits the lifetime of the response of a GraphQL context. `until` is a time of the monotonic clock; `-Infinity`
 * means that the response must not be stored. The lowest limit applies.
 */
export function limitFreshness(context: unknown, until: number): void {
  if (typeof context !== 'object' || context === null) return
  const { [FRESHNESS]: shared } = context as Bounded
  if (shared) shared.until = Math.min(shared.until, until)
  else Reflect.set(context, FRESHNESS, { until })
}

/** Returns the monotonic time until which the response can be stored; `Infinity` means no limit. */
export function freshUntilOf(context: object): number {
  return (context as Bounded)[FRESHNESS]?.until ?? Infinity
}

/**
 * Returns a context without the caller's data. Lifetime limits set on it apply to the response of the given context.
 */
export function namelessContext(context: object): object {
  return { [FRESHNESS]: (context as Bounded)[FRESHNESS] }
}
