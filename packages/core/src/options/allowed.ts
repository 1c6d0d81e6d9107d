import { isRecord } from '../json/values.ts'

/**
 * Describes the allowed values of an option. `NaN`, the result of `Number` for a missing variable, is not a valid
 * number.
 */
export class Allowed<Value> {
  /** Description of the allowed values, for error messages. */
  readonly expected: string
  /** Whether the option is required. */
  readonly isRequired: boolean
  /** Whether the value can be a secret. Error messages do not show it then. */
  readonly isSecret: boolean
  readonly #has: (value: unknown) => boolean

  /** Creates a description. By default, the option is neither required nor secret. */
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

  /** Returns the same description for a required option. */
  get required(): Allowed<Value> {
    return new Allowed(this.expected, this.#has, { isRequired: true, isSecret: this.isSecret })
  }

  has(value: unknown): value is Value {
    return this.#has(value)
  }
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** Allows only true and false. Strings such as `'false'` from environment variables are refused. */
export const flag: Allowed<boolean> = new Allowed('true or false', (value) => typeof value === 'boolean')

export const text: Allowed<string> = new Allowed('a string', isText, { isSecret: true })

export const texts: Allowed<readonly string[]> = new Allowed(
  'a list of strings',
  (value) => Array.isArray(value) && value.every(isText),
)

export const textsByName: Allowed<Readonly<Record<string, string>>> = new Allowed(
  'an object of strings',
  (value) => isRecord(value) && Object.values(value).every((one) => one === undefined || isText(one)),
  { isSecret: true },
)

/** Allows an object of strings or lists of strings, such as headers. */
export const valuesByName: Allowed<object> = new Allowed(
  'an object of strings or lists of strings',
  (value) =>
    isRecord(value) &&
    Object.values(value)
      .flat()
      .every((one) => one === undefined || isText(one)),
  { isSecret: true },
)

export const optionsList: Allowed<readonly object[]> = new Allowed(
  'a list of objects',
  (value) => Array.isArray(value) && value.every(isRecord),
)

export function oneOf(...names: readonly string[]): Allowed<string> {
  return new Allowed(names.join(', '), (value) => names.includes(value as string))
}

function number(expected: string, has: (value: number) => boolean): Allowed<number> {
  return new Allowed(expected, (value) => typeof value === 'number' && has(value))
}

/** Allows numbers of at least `least`, including `Infinity` for no limit. */
export function atLeast(least: number): Allowed<number> {
  return number(`a number of at least ${least}`, (value) => value >= least)
}

/** Allows integers of at least `least`, without `Infinity`. */
export function wholeAtLeast(least: number): Allowed<number> {
  return number(
    `a whole number of at least ${least}`,
    (value) => value >= least && Number.isSafeInteger(value),
  )
}

export function above(bound: number): Allowed<number> {
  return number(`a number greater than ${bound}`, (value) => value > bound)
}

/** Allows numbers between two bounds, without the bounds. */
export function between(lower: number, upper: number): Allowed<number> {
  return number(
    `a number greater than ${lower} and less than ${upper}`,
    (value) => value > lower && value < upper,
  )
}
