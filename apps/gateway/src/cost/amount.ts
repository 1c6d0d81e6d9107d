/** The values of an operation's variables, as they were sent. */
export type Variables = Readonly<Record<string, unknown>>

/** One request for an operation. */
export interface Run {
  readonly variables: Variables
  /** Amounts that were computed for it: fragments share their amounts, and each is computed once. */
  readonly known: Map<object, number>
}

/** A number that is known with the document, or with the variables. */
export type Amount = number | ((run: Run) => number)

/** The amount, computed once a run however often it is asked for. */
export function once(amount: Amount): Amount {
  if (typeof amount === 'number') return amount
  return (run) => {
    const before = run.known.get(amount)
    if (before !== undefined) return before
    const value = amount(run)
    run.known.set(amount, value)
    return value
  }
}

export function sum(amounts: readonly Amount[]): Amount {
  return fold(amounts, 0, (a, b) => a + b)
}

export function largest(amounts: readonly Amount[]): Amount {
  return fold(amounts, 0, Math.max)
}

/** Nothing times infinity is nothing: what costs nothing may be asked for without a bound. */
export function product(amounts: readonly Amount[]): Amount {
  if (amounts.includes(0)) return 0
  return fold(amounts, 1, (a, b) => (a === 0 || b === 0 ? 0 : a * b))
}

function fold(amounts: readonly Amount[], start: number, combine: (a: number, b: number) => number): Amount {
  let known = start
  const unknown: Exclude<Amount, number>[] = []
  for (const amount of amounts) {
    if (typeof amount === 'number') known = combine(known, amount)
    else unknown.push(amount)
  }
  if (unknown.length === 0) return known
  return (run) => unknown.reduce((total, amount) => combine(total, amount(run)), known)
}
