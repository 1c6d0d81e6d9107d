/** The numbers that an option may be. What `Number` makes of a variable that is not set, NaN, is in no range. */
export class NumberRange {
  /** What is expected, for messages. */
  readonly expected: string
  readonly #has: (value: number) => boolean

  constructor(expected: string, has: (value: number) => boolean) {
    this.expected = expected
    this.#has = has
  }

  has(value: unknown): boolean {
    return typeof value === 'number' && this.#has(value)
  }
}

/** `Infinity` is in it: a limit that is none. */
export function atLeast(least: number): NumberRange {
  return new NumberRange(`a number of at least ${least}`, (value) => value >= least)
}

/** `Infinity` is not in it. */
export function wholeAtLeast(least: number): NumberRange {
  return new NumberRange(
    `a whole number of at least ${least}`,
    (value) => value >= least && Number.isSafeInteger(value),
  )
}

export function above(bound: number): NumberRange {
  return new NumberRange(`a number above ${bound}`, (value) => value > bound)
}

/** Neither bound is in it. */
export function between(lower: number, upper: number): NumberRange {
  return new NumberRange(
    `a number above ${lower} and below ${upper}`,
    (value) => value > lower && value < upper,
  )
}
