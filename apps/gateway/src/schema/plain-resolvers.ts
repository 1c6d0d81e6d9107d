import type { IResolvers } from '@graphql-tools/utils'

type Members = Readonly<Record<string, unknown>>

/**
 * Returns the resolvers as plain objects, whatever the config has them in: module namespaces, instances of classes, objects
 * without a prototype, functions with properties. Methods of classes keep their `this`.
 */
export function plainResolvers(resolvers: IResolvers): IResolvers {
  const types = Object.entries(membersOf(resolvers)).map(([name, given]) => [name, plainFields(given)])
  return Object.fromEntries(types) as IResolvers
}

function plainFields(given: unknown): unknown {
  if (!isMap(given)) return given
  const fields = Object.entries(membersOf(given)).map(([name, member]) => [
    name,
    typeof member === 'object' && isMap(member) && ('resolve' in member || 'subscribe' in member)
      ? membersOf(member)
      : member,
  ])
  return Object.fromEntries(fields)
}

/** Scalars and enums are instances of graphql's classes. A function without properties has no resolvers. */
function isMap(given: unknown): given is object {
  if (typeof given === 'function') return Object.keys(given).length > 0
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  return !Object.prototype.toString.call(given).startsWith('[object GraphQL')
}

function membersOf(given: object): Members {
  const members = new Map<string, unknown>()
  const add = (name: string): void => {
    const value: unknown = Reflect.get(given, name)
    const isMethod = typeof value === 'function' && !Object.hasOwn(given, name)
    if (!members.has(name)) members.set(name, isMethod ? (value.bind(given) as unknown) : value)
  }
  for (const name of Object.keys(given)) add(name)
  // The last prototype of a chain is the one that all objects have.
  for (
    let place: unknown = typeof given === 'function' ? null : Object.getPrototypeOf(given);
    place !== null && Object.getPrototypeOf(place) !== null;
    place = Object.getPrototypeOf(place)
  )
    for (const name of Object.getOwnPropertyNames(place)) if (name !== 'constructor') add(name)
  return Object.fromEntries(members)
}
