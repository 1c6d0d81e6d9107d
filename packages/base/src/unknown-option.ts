import { nearestNames } from './nearest-names.ts'

/**
 * Says of an option that is set and that nothing reads what may have been meant: JavaScript takes any in silence. `known`
 * has each name of a type of options, which `satisfies Record<keyof Options, true>` holds.
 */
export function unknownOption(options: object, known: Readonly<Record<string, true>>): string | undefined {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    const names = Object.keys(known)
    const [nearest] = nearestNames(name, names, 1)
    return `there is no option ${name}; ${nearest === undefined ? `there are ${names.join(', ')}` : `did you mean ${nearest}?`}`
  }
  return undefined
}
