import { asList, type Node } from '../../openapi-document.ts'
import { freeName } from './free-name.ts'

const SIGNS: Readonly<Record<string, string>> = {
  '+': 'PLUS',
  '*': 'STAR',
  '<': 'LT',
  '>': 'GT',
  '=': 'EQ',
  '!': 'NOT',
  '%': 'PERCENT',
  '&': 'AND',
  '|': 'OR',
  $: 'DOLLAR',
  '@': 'AT',
  '#': 'HASH',
}

/** `in-progress` gives `IN_PROGRESS`, `+1` `PLUS_1`, `-1` `MINUS_1`, `createdAt` `CREATED_AT`. */
export function constantName(value: string | number | boolean): string {
  const text = String(value)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    // A minus stands before a number, not between words.
    .replaceAll(/(^|[^A-Za-z0-9])-(?=\d)/g, '$1_MINUS_')
    .replaceAll(/[+*<>=!%&|$@#]/g, (sign) => `_${SIGNS[sign]}_`)
    .replaceAll(/[^\u0000-\u007f]/gu, (letter) => `_U${letter.codePointAt(0)?.toString(16)}_`) // oxlint-disable-line no-control-regex
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase()
  if (text === '') return value === '' ? 'EMPTY' : 'BLANK'
  return /^\d/.test(text) ? `_${text}` : text
}

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
