import { constantName, freeName } from '../names.ts'
import { asList, type Node } from '../openapi-document.ts'

/** Where generators write the names that values have in code. */
const NAME_KEYS = ['x-enum-varnames', 'x-enumNames'] as const

/** The names of an enum's values: of numbers those that the schema gives them, if each has one of its own. */
export function namesIn(
  node: Node,
  values: readonly (string | number | boolean)[],
): ReadonlyMap<string | number | boolean, string> {
  const given = NAME_KEYS.map((key) => asList(node[key])).find((list) => list.length > 0) ?? []
  const names = given.filter((name) => typeof name === 'string').map(constantName)
  const isNamed = names.length === values.length && new Set(names).size === names.length
  if (!isNamed || !values.every((value) => typeof value === 'number')) return enumNames(values)
  return new Map(values.map((value, index) => [value, names[index] as string]))
}

/** Names by values. A value that is its own name keeps it; of others with one name the later ones are numbered. */
function enumNames(
  values: readonly (string | number | boolean)[],
): ReadonlyMap<string | number | boolean, string> {
  const names = new Map<string | number | boolean, string>()
  const used = new Set<string>()
  const wanted = new Map(values.map((value) => [value, constantName(value)]))
  const own = values.filter((value) => wanted.get(value) === value)
  for (const value of new Set([...own, ...values])) {
    const name = freeName(wanted.get(value) as string, (one) => used.has(one), '_')
    used.add(name)
    names.set(value, name)
  }
  // In the order of the document.
  return new Map(values.map((value) => [value, names.get(value) as string]))
}
