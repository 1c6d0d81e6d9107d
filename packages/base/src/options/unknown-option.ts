import { nearestNames } from './nearest-names.ts'

/**
 * The names of a type of options. A name of options that hold options, one or a list of them, has their names; `*` stands for
 * any name.
 */
export type KnownOptions<Options = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Options]-?: true | KnownOptions
}

/**
 * Says of an option that is set and that nothing reads what may have been meant: JavaScript takes any in silence. `place` is
 * where the options are, with a point behind it.
 */
export function unknownOption(options: object, known: KnownOptions, place = ''): string | undefined {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue
    const below = Object.hasOwn(known, name) ? known[name] : known['*']
    if (below === undefined) {
      const names = Object.keys(known)
      const [nearest] = nearestNames(name, names, 1)
      return `there is no option ${place}${name}; ${nearest === undefined ? (names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`) : `did you mean ${nearest}?`}`
    }
    for (const item of below === true ? [] : [value].flat()) {
      if (typeof item !== 'object' || item === null) continue
      const unknown = unknownOption(item, below as KnownOptions, `${place}${name}.`)
      if (unknown !== undefined) return unknown
    }
  }
  return undefined
}

/** Throws a TypeError, with the name of who takes them, where an option is set that nothing reads. */
export function refuseUnknownOptions(taker: string, options: object, known: KnownOptions): void {
  const unknown = unknownOption(options, known)
  if (unknown !== undefined) throw new TypeError(`${taker}: ${unknown}`)
}
