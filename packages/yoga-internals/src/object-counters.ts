type IsTypeOf = (...args: never[]) => unknown

/** Functions that stand where a type says what is of it, and count each object that they are asked about. */
const counters = new WeakMap<IsTypeOf, IsTypeOf | undefined>()

/** `own`: what the type said itself. */
export function noteObjectCounter<Own extends IsTypeOf>(counter: Own, own: Own | undefined): Own {
  counters.set(counter, own)
  return counter
}

export function isObjectCounter(isTypeOf: IsTypeOf): boolean {
  return counters.has(isTypeOf)
}

/** Returns the `isTypeOf` of the type's author; undefined where there is no more than the counting. */
export function behindObjectCounter<Own extends IsTypeOf>(isTypeOf: Own): Own | undefined {
  return (counters.has(isTypeOf) ? counters.get(isTypeOf) : isTypeOf) as Own | undefined
}
