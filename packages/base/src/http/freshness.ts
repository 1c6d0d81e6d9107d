/** A registered symbol: copies of a context, and copies of this package, share what stands under it. */
const FRESHNESS = Symbol.for('vinyasa.freshness')

interface Bounded {
  [FRESHNESS]?: { until: number }
}

/** Begins the execution of an operation: nothing limits how long its answer may be kept yet. */
export function openFreshness(context: object): void {
  Reflect.set(context, FRESHNESS, { until: Infinity })
}

/**
 * Limits how long the answer made under a GraphQL context may be kept: until this time by the monotonic clock at most.
 * `-Infinity`: not at all. The shortest limit counts.
 */
export function limitFreshness(context: unknown, until: number): void {
  if (typeof context !== 'object' || context === null) return
  const { [FRESHNESS]: shared } = context as Bounded
  if (shared) shared.until = Math.min(shared.until, until)
  else Reflect.set(context, FRESHNESS, { until })
}

/** Returns the time until which the answer may be kept; `Infinity`: nothing limits it. */
export function freshUntilOf(context: object): number {
  return (context as Bounded)[FRESHNESS]?.until ?? Infinity
}

/** Returns a context that says nothing of the caller: limits set on it hold for the answer made under the other one. */
export function namelessContext(context: object): object {
  return { [FRESHNESS]: (context as Bounded)[FRESHNESS] }
}
