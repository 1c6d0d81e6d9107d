import { Allowed } from './allowed.ts'
import { nearestNames } from './nearest-names.ts'

/**
 * Names and allowed values of an options type. An option that contains options, or a list of them, has nested names.
 * `*` matches any name.
 */
export type KnownOptions<Options> = {
  readonly [Name in keyof Options]-?: KnownOption<Exclude<Options[Name], undefined>>
}

type KnownOption<Value> = [Value] extends [number]
  ? Allowed<number>
  : [Value] extends [boolean]
    ? Allowed<boolean>
    : string extends Value
      ? [Value] extends [string]
        ? Allowed<string>
        : true | AnyKnownOptions
      : [Value] extends [readonly string[]]
        ? Allowed<readonly string[]>
        : [string, Value] extends [keyof Value, Readonly<Record<string, string | undefined>>]
          ? Allowed<Readonly<Record<string, string>>>
          : true | Allowed<unknown> | AnyKnownOptions

/** Names and allowed values of options of any type. */
export interface AnyKnownOptions {
  readonly [name: string]: true | Allowed<unknown> | AnyKnownOptions
}

/**
 * Describes the first wrong option: an unknown name, with a suggestion, an invalid value, or a missing required
 * option. Returns `undefined` if all options are valid. `place` is the path of the options with a trailing dot.
 */
export function wrongOption(options: object, known: AnyKnownOptions, place = ''): string | undefined {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue
    const below = Object.hasOwn(known, name) ? known[name] : known['*']
    if (below === undefined) return unknownOption(name, known, place)
    if (below === true) continue
    if (below instanceof Allowed) {
      if (below.has(value)) continue
      return `option ${place}${name} is ${shown(value, below)}; expected ${below.expected}`
    }
    for (const item of [value].flat() as unknown[]) {
      if (item === null)
        return `option ${place}${name} ${value === null ? 'is' : 'contains'} null; expected an object`
      if (typeof item !== 'object') continue
      const wrong = wrongOption(item, below, `${place}${name}.`)
      if (wrong !== undefined) return wrong
    }
  }
  for (const [name, allowed] of Object.entries(known))
    if (allowed instanceof Allowed && allowed.isRequired && Object(options)[name] === undefined)
      return `option ${place}${name} is missing; expected ${allowed.expected}`
  return undefined
}

/**
 * Throws if an option is wrong. `taker` is the name of the function in the message. See `wrongOption`.
 * @throws TypeError
 */
export function refuseWrongOptions(taker: string, options: object, known: AnyKnownOptions): void {
  const wrong = wrongOption(options, known)
  if (wrong !== undefined) throw new TypeError(`${taker}: ${wrong}`)
}

function unknownOption(name: string, known: AnyKnownOptions, place: string): string {
  const names = Object.keys(known)
  const [nearest] = nearestNames(name, names, 1)
  const those = names.length === 0 ? 'no options are accepted' : `the options are ${names.join(', ')}`
  return `there is no option ${place}${name}; ${nearest === undefined ? those : `did you mean ${nearest}?`}`
}

/**
 * Describes a value for an error message. Values that can be secret, such as passwords and headers, are
 * hidden.
 */
function shown(value: unknown, { isSecret }: Allowed<unknown>): string {
  if (value === null) return 'null'
  if (!isSecret && typeof value === 'string') return JSON.stringify(value)
  if (!isSecret && typeof value === 'number') return String(value)
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
