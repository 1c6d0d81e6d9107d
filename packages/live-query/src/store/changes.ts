/** Specification: "Field change record". */
export interface FieldChange {
  readonly fieldPath: string
  /** Missing if the field is new. */
  readonly oldValue?: unknown
  /** `null` if the field was removed. */
  readonly newValue: unknown
}

/**
 * Returns the differences between two results, in document order. Paths are dotted with list items in brackets:
 * `users[0].email`. `prefix` precedes every path. At `maxDepth` steps, the path of the subtree represents everything
 * below it. A difference between the two values themselves is reported with the path `prefix`. If `prefix` is empty and
 * the values have different kinds, the list contains every field of the new value.
 */
export function detectFieldChanges(
  previous: unknown,
  next: unknown,
  prefix = '',
  maxDepth = 10,
): FieldChange[] {
  const changes: FieldChange[] = []
  compare(previous, next, prefix, maxDepth, changes)
  return changes
}

function compare(previous: unknown, next: unknown, path: string, depth: number, out: FieldChange[]): void {
  if (Object.is(previous, next)) return
  const sameKind =
    isContainer(previous) && isContainer(next) && Array.isArray(previous) === Array.isArray(next)
  if (!sameKind && path === '' && depth > 0) return expand(previous, next, depth, out)
  if (!sameKind || depth <= 0) {
    if (!deepEqual(previous, next)) out.push({ fieldPath: path, oldValue: previous, newValue: next })
    return
  }
  for (const key of keysOf(previous, next)) {
    const inPrevious = Object.hasOwn(previous, key)
    const inNext = Object.hasOwn(next, key)
    const here = join(path, key, Array.isArray(next))
    if (!inPrevious) out.push({ fieldPath: here, newValue: read(next, key) })
    else if (!inNext) out.push({ fieldPath: here, oldValue: read(previous, key), newValue: null })
    else compare(read(previous, key), read(next, key), here, depth - 1, out)
  }
}

/** The root changed its kind, e.g. `data: null` after an error. The changes are its fields. */
function expand(previous: unknown, next: unknown, depth: number, out: FieldChange[]): void {
  if (isContainer(previous)) compare(previous, Array.isArray(previous) ? [] : {}, '', depth, out)
  if (isContainer(next)) compare(Array.isArray(next) ? [] : {}, next, '', depth, out)
}

function keysOf(previous: object, next: object): string[] {
  const keys = Object.keys(next)
  for (const key of Object.keys(previous)) if (!Object.hasOwn(next, key)) keys.push(key)
  return keys
}

function join(path: string, key: string, inList: boolean): string {
  if (inList) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function read(container: object, key: string): unknown {
  return (container as Record<string, unknown>)[key]
}

function deepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(read(a, key), read(b, key)))
}
