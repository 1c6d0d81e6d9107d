type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Result {
  readonly data?: Json
  readonly errors?: readonly { readonly message: string; readonly path?: readonly (string | number)[] }[]
}

export interface Comparable {
  readonly data: Json | undefined
  /** Whole, of fields that are null for them. */
  readonly errors: readonly string[]
  /** Of the same, the places alone. */
  readonly places: readonly string[]
  /**
   * Places that are null for what is below them: time has it which of several errors there come before the first that takes
   * the place away, and so before nobody asks any more.
   */
  readonly gone: readonly string[]
}

export function comparable({ data, errors = [] }: Result): Comparable {
  const whole: string[] = []
  const places: string[] = []
  const gone = new Set<string>()
  for (const error of errors) {
    const path = error.path ?? []
    let value: Json | undefined = data
    let depth = 0
    while (depth < path.length && value !== null && value !== undefined)
      value = (value as Record<string, Json>)[path[depth++] as string]
    if (depth < path.length) gone.add(path.slice(0, depth).join('.'))
    else {
      whole.push(JSON.stringify(error))
      places.push(path.join('.'))
    }
  }
  return { data, errors: whole.sort(), places: places.sort(), gone: [...gone].sort() }
}

/** What is there is as it is wanted; what failed may be missing. */
export function isWithin(got: Json | undefined, wanted: Json | undefined): boolean {
  if (got === null || got === undefined || wanted === null || wanted === undefined) return true
  if (typeof got !== 'object' || typeof wanted !== 'object') return got === wanted
  if (Array.isArray(got) !== Array.isArray(wanted)) return false
  if (Array.isArray(got) && got.length !== (wanted as Json[]).length) return false
  return Object.entries(got).every(
    ([key, value]) => key in wanted && isWithin(value, (wanted as Record<string, Json>)[key]),
  )
}
