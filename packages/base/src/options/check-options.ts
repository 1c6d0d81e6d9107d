import { nearestNames } from './nearest-names.ts'
import { NumberRange } from './number-range.ts'

/**
 * The names of a type of options, and what those that are numbers may be. A name of options that hold options, one or a list of
 * them, has their names; `*` stands for any name.
 */
export type KnownOptions<Options> = {
  readonly [Name in keyof Options]-?: [Exclude<Options[Name], undefined>] extends [number]
    ? NumberRange
    : true | AnyKnownOptions
}

/** The names of options of any type. */
export interface AnyKnownOptions {
  readonly [name: string]: true | NumberRange | AnyKnownOptions
}

/**
 * Says of the first option that is set and cannot work what is wrong with it: one that nothing reads, with what may have been
 * meant, as JavaScript takes any in silence, or a number that is none or out of its range. `place` is where the options are, with
 * a point behind it.
 */
export function wrongOption(options: object, known: AnyKnownOptions, place = ''): string | undefined {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue
    const below = Object.hasOwn(known, name) ? known[name] : known['*']
    if (below === undefined) return unknownOption(name, known, place)
    if (below === true) continue
    if (below instanceof NumberRange) {
      if (below.has(value)) continue
      return `option ${place}${name} is ${shown(value)}; expected ${below.expected}`
    }
    for (const item of [value].flat() as unknown[]) {
      if (typeof item !== 'object' || item === null) continue
      const wrong = wrongOption(item, below, `${place}${name}.`)
      if (wrong !== undefined) return wrong
    }
  }
  return undefined
}

/** Throws a TypeError, with the name of who takes them, where an option is set that cannot work. */
export function refuseWrongOptions(taker: string, options: object, known: AnyKnownOptions): void {
  const wrong = wrongOption(options, known)
  if (wrong !== undefined) throw new TypeError(`${taker}: ${wrong}`)
}

function unknownOption(name: string, known: AnyKnownOptions, place: string): string {
  const names = Object.keys(known)
  const [nearest] = nearestNames(name, names, 1)
  const those = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`
  return `there is no option ${place}${name}; ${nearest === undefined ? those : `did you mean ${nearest}?`}`
}

function shown(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : typeof value === 'number'
      ? String(value)
      : typeof value
}
