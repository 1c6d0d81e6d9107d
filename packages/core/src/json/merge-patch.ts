import { isPlainObject } from '../objects.ts'

type Data = Record<string, unknown>

/** Entry of `incremental` in a response to `@defer` or `@stream`. */
export interface IncrementalPatch {
  readonly data?: Readonly<Data> | null
  readonly items?: readonly unknown[] | null
  readonly path?: readonly (string | number)[]
}

/** Merges a patch into the data. Returns false if its path does not exist or the patch is empty. */
export function mergePatch(root: unknown, { data, items, path = [] }: IncrementalPatch): boolean {
  if (items) {
    const list = placeAt(root, path.slice(0, -1))
    const start = path.at(-1)
    if (!Array.isArray(list) || typeof start !== 'number') return false
    for (const [index, item] of items.entries()) list[start + index] = copyJson(item)
    return true
  }
  const target = placeAt(root, path)
  if (!isPlainObject(target) || !data) return false
  mergeInto(target, data)
  return true
}

function placeAt(root: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((place, segment) => {
    const isThere = typeof place === 'object' && place !== null && Object.hasOwn(place, segment)
    return isThere ? (place as Data)[segment] : undefined
  }, root)
}

/**
 * Merges `source` into `target`. Null values are kept, because an error in another fragment's fields caused
 * them.
 */
function mergeInto(target: Data, source: Readonly<Data>): void {
  for (const [key, value] of Object.entries(source)) {
    if (target[key] !== null) target[key] = mergeValues(target[key], value)
  }
}

function mergeValues(before: unknown, after: unknown): unknown {
  if (isPlainObject(before) && isPlainObject(after)) {
    mergeInto(before, after)
    return before
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.map((item, index) => (item === null ? null : mergeValues(item, after[index])))
  }
  return copyJson(after)
}

/** Returns a deep copy of lists and plain objects. Other values, such as dates and custom scalars, are not copied. */
export function copyJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyJson)
  if (!isPlainObject(value)) return value
  const copy: Data = {}
  for (const key of Object.keys(value)) copy[key] = copyJson(value[key])
  return copy
}
