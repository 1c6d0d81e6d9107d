import { camel, capitalize, freeName, legal, pascal, passedOver, type GaveWay } from './names.ts'
import type { OpenApiOperation } from './operations.ts'
import type { NameConflicts, NamingOptions } from './types/type-names.ts'

export interface OperationName extends Pick<NameConflicts, 'wanted' | 'passed'> {
  readonly name: string
}

/**
 * Fields' names: the operation id in camel case, else method and path. An id that is a name as it stands keeps it; of
 * others that become equal the first one keeps it, and each later one takes its tag, and where that is not enough, its path:
 * an operation that is added behind them renames none. A name that others have gets the source's before it. The keys of the
 * map are as `GET /path`.
 */
export function operationNames(
  operations: readonly OpenApiOperation[],
  { taken, source, rename }: NamingOptions,
): ReadonlyMap<string, OperationName> {
  const names = new Map<string, OperationName>()
  const owners = new Map<string, string>()
  const isUsed = (name: string): boolean => taken.has(name) || owners.has(name)
  const apart = (name: string): string =>
    taken.has(name) ? legal(`${camel(source)}${capitalize(name)}`) : name

  function give(key: string, name: string, alone: readonly string[], passed: readonly GaveWay[] = []): void {
    const wanted = alone.find((one, place) => taken.has(one) && (place === 0 || apart(one) === name))
    names.set(key, { name, wanted, passed })
    owners.set(name, key)
  }

  for (const operation of operations) {
    const key = keyOf(operation)
    const chosen = [operation.operationId ?? key, key].find((one) => Object.hasOwn(rename, one))
    if (chosen !== undefined) give(key, rename[chosen] as string, [])
  }
  const wishes = operations
    .filter((operation) => !names.has(keyOf(operation)))
    .map((operation) => ({ operation, key: keyOf(operation), alone: namesAlone(operation, source) }))
  const isTaken = ({ alone }: { alone: readonly string[] }): boolean => taken.has(alone[0] as string)

  // Operations whose names others have come last, so that they find what is free.
  const asTheyStand = wishes.filter(({ operation: { operationId: id } }) => id && camel(id) === id)
  for (const wish of [...asTheyStand.filter((one) => !isTaken(one)), ...asTheyStand.filter(isTaken)]) {
    const name = apart(wish.alone[0] as string)
    if (!isUsed(name)) give(wish.key, name, wish.alone)
  }
  for (const { key, alone } of wishes) {
    if (names.has(key)) continue
    const candidates = alone.map(apart)
    const last = candidates.at(-1) as string
    const name = candidates.find((one) => !isUsed(one)) ?? freeName(last, isUsed, '_')
    const passed = candidates.slice(0, candidates.indexOf(name))
    give(key, name, alone, passedOver(passed, owners))
  }
  return names
}

/** Its names as if nobody else had any, the most wanted one first. */
function namesAlone(operation: OpenApiOperation, source: string): readonly string[] {
  const { operationId = '', tags } = operation
  const byPath = pathName(operation)
  const own = pascal(operationId) === '' ? [] : [camel(operationId)]
  const tagged = own.flatMap((name) =>
    tags[0] === undefined ? [] : [camel(`${tags[0]} ${capitalize(name)}`)],
  )
  return [...own, ...tagged, byPath, camel(`${source} ${byPath}`)].map(legal)
}

export function keyOf({ method, path }: Pick<OpenApiOperation, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/** `/users/{user-id}` read by GET becomes `getUsersByUserId`. */
function pathName({ method, path }: OpenApiOperation): string {
  return camel(`${method.toLowerCase()} ${spoken(path)}`)
}

/** `/users/{user-id}` becomes `users by user-id`. */
export function spoken(path: string): string {
  return path
    .split('/')
    .map((segment) => segment.replaceAll(/\{([^{}]*)\}/g, ' by $1 '))
    .join(' ')
}
