/**
 * Returns JSON with sorted keys, so that equal values have equal strings. `other` returns the string for
 * values that are not plain JSON, such as uploads, dates and functions. The result is `undefined` if `other`
 * is missing or returns `undefined`.
 */
export function canonicalJson(
  value: unknown,
  other: (value: unknown) => string | undefined = () => undefined,
): string | undefined {
  if (value === null) return 'null'
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value)
  if (typeof value === 'number' && Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value)
  if (Array.isArray(value)) {
    let text = '['
    for (let index = 0; index < value.length; index++) {
      const item = canonicalJson(value[index], other)
      if (item === undefined) return undefined
      text += index === 0 ? item : `,${item}`
    }
    return `${text}]`
  }
  if (!isPlainObject(value) || typeof value['toJSON'] === 'function') return other(value)
  let text = '{'
  for (const key of Object.keys(value).sort()) {
    if (value[key] === undefined) continue
    const member = canonicalJson(value[key], other)
    if (member === undefined) return undefined
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(key)}:${member}`
  }
  return `${text}}`
}

type Data = Record<string, unknown>

/** Entry of `incremental` in a response to `@defer` or `@stream`. */
interface IncrementalPatch {
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

type Extensions = Readonly<Record<string, unknown>>

/**
 * Returns error extensions without Yoga's internal `http` and `unexpected`. Returns `undefined` if the rest is empty.
 */
export function publicExtensions(extensions: Extensions | undefined): Extensions | undefined {
  if (!extensions) return undefined
  const { http: _http, unexpected: _unexpected, ...shown } = extensions
  return Object.keys(shown).length > 0 ? shown : undefined
}

/** Returns whether a value is an object other than null and arrays. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns whether a value is a plain object, as from JSON or an object literal. Instances of classes, such as dates
 * and files, are not plain.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
