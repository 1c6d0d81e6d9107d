import { Allowed } from './allowed.ts'

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

/** Problem in options, or in a file that they refer to. */
export interface Finding {
  /** File that contains the problem, as imported; absent if the problem is in the options. */
  readonly file?: string | undefined
  /** Fully qualified name of the method, message or field. */
  readonly element?: string | undefined
  /** Problem and fix. */
  readonly message: string
  /** Path of the option, for example `['endpoints', 2, 'path']`; absent if no single option is wrong. */
  readonly path?: readonly PropertyKey[] | undefined
  /** Offset of the problem in the option's string, in characters; absent if it concerns the complete string. */
  readonly offset?: number | undefined
}

/** Returns a finding as text, with its file and element first. */
export function formatFinding({ file, element, message }: Finding): string {
  return [file, element, message].filter((part) => part !== undefined).join(': ')
}

/** Returns the `findings` of an error, or its message as one finding. */
export function findingsOf(error: unknown): readonly Finding[] {
  if (!(error instanceof Error)) return [{ message: String(error) }]
  const { findings = [{ message: error.message }] } = error as { readonly findings?: readonly Finding[] }
  return findings
}

/** Returns findings with `path` added in front of their paths. */
export function findingsAt(path: readonly PropertyKey[], findings: readonly Finding[]): readonly Finding[] {
  return findings.map((one) => ({ ...one, path: [...path, ...(one.path ?? [])] }))
}

const MOST_EDITS = 3

/** Returns the known names that are most similar to an unknown name. The list is empty if no name is similar. */
export function nearestNames(name: string, known: Iterable<string>, count = 3): readonly string[] {
  const wanted = name.toLowerCase()
  const scored: { readonly candidate: string; readonly distance: number }[] = []
  for (const candidate of known) {
    const most = Math.min(MOST_EDITS, Math.ceil(Math.max(wanted.length, candidate.length) / 3))
    if (Math.abs(candidate.length - wanted.length) > most) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance <= most) scored.push({ candidate, distance })
  }
  scored.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
  return scored.slice(0, count).map(({ candidate }) => candidate)
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
