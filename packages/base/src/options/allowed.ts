/** What an option may be. What `Number` makes of a variable that is not set, NaN, is no number. */
export class Allowed<Value> {
  /** What is expected, for messages. */
  readonly expected: string
  /** Whether it must be there. */
  readonly isRequired: boolean
  /** Whether a value in its place may be a secret, which errors do not show. */
  readonly isSecret: boolean
  readonly #has: (value: unknown) => boolean

  /** Default: neither required nor secret. */
  constructor(
    expected: string,
    has: (value: unknown) => boolean,
    { isRequired = false, isSecret = false }: Partial<Pick<Allowed<Value>, 'isRequired' | 'isSecret'>> = {},
  ) {
    this.expected = expected
    this.#has = has
    this.isRequired = isRequired
    this.isSecret = isSecret
  }

  /** The same, which must be there. */
  get required(): Allowed<Value> {
    return new Allowed(this.expected, this.#has, { isRequired: true, isSecret: this.isSecret })
  }

  has(value: unknown): value is Value {
    return this.#has(value)
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): boolean => typeof value === 'string'

/** Of `'false'`, as variables of the environment are, nobody knows which it is. */
export const flag: Allowed<boolean> = new Allowed('true or false', (value) => typeof value === 'boolean')

export const text: Allowed<string> = new Allowed('a text', isText, { isSecret: true })

export const texts: Allowed<readonly string[]> = new Allowed(
  'a list of texts',
  (value) => Array.isArray(value) && value.every(isText),
)

export const textsByName: Allowed<Readonly<Record<string, string>>> = new Allowed(
  'an object of texts',
  (value) => isObject(value) && Object.values(value).every((one) => one === undefined || isText(one)),
  { isSecret: true },
)

/** As headers are given. */
export const valuesByName: Allowed<object> = new Allowed(
  'an object of texts, or of lists of texts',
  (value) =>
    isObject(value) &&
    Object.values(value)
      .flat()
      .every((one) => one === undefined || isText(one)),
  { isSecret: true },
)

export const optionsList: Allowed<readonly object[]> = new Allowed(
  'a list of options',
  (value) => Array.isArray(value) && value.every(isObject),
)

export function oneOf(...names: readonly string[]): Allowed<string> {
  return new Allowed(names.join(', '), (value) => names.includes(value as string))
}

function number(expected: string, has: (value: number) => boolean): Allowed<number> {
  return new Allowed(expected, (value) => typeof value === 'number' && has(value))
}

/** `Infinity` is in it: a limit that is none. */
export function atLeast(least: number): Allowed<number> {
  return number(`a number of at least ${least}`, (value) => value >= least)
}

/** `Infinity` is not in it. */
export function wholeAtLeast(least: number): Allowed<number> {
  return number(
    `a whole number of at least ${least}`,
    (value) => value >= least && Number.isSafeInteger(value),
  )
}

export function above(bound: number): Allowed<number> {
  return number(`a number above ${bound}`, (value) => value > bound)
}

/** Neither bound is in it. */
export function between(lower: number, upper: number): Allowed<number> {
  return number(`a number above ${lower} and below ${upper}`, (value) => value > lower && value < upper)
}
