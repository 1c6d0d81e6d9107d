import * as fc from 'fast-check'
import type { ZodType } from 'zod'
import { definitionOf } from '../../src/config/definition.ts'
import { gatewayConfig } from '../../src/config/schema.ts'

/** One config under the names of its types, and under those of the specification. */
export interface Spelled {
  readonly own: unknown
  readonly specified: unknown
}

/** Names that users give, among them those that look like settings. */
const userName = fc.constantFrom(
  'per_page',
  'base_url',
  'query_param',
  'timeout',
  'max_backoff',
  'header',
  'X-Api_key',
  'perPage',
  'shop.v1.Orders_Service/get_order',
  'Query.user_by_id',
  'constructor',
  '404',
)

function spelled(value: unknown): fc.Arbitrary<Spelled> {
  return fc.constant({ own: value, specified: value })
}

/** Any config that a schema takes, but for functions and objects of classes, which data cannot hold. */
function arbitraryOf(schema: unknown, depth = 0): fc.Arbitrary<Spelled> | undefined {
  const definition = definitionOf(schema) as any
  switch (definition.type) {
    // Values that keep every bound of the schema between them.
    case 'string': {
      const value = ['/some_text_of_at_least_32_characters/', 'loopback'].find((text) => takes(schema, text))
      return value === undefined ? undefined : spelled(value)
    }
    case 'number':
      return spelled(150)
    case 'boolean':
      return fc.boolean().map((value) => ({ own: value, specified: value }))
    case 'enum':
      return fc.constantFrom<unknown>(...Object.values(definition.entries)).chain(spelled)
    case 'literal':
      return spelled(definition.values[0])
    case 'unknown':
      return fc.dictionary(userName, fc.boolean(), { noNullPrototype: true }).chain(spelled)
    case 'array':
      return listOf(arbitraryOf(definition.element, depth + 1))
    case 'union': {
      const options = definition.options.map((option: unknown) => arbitraryOf(option, depth + 1))
      const possible: fc.Arbitrary<Spelled>[] = options.filter(Boolean)
      return possible.length > 0 ? fc.oneof(...possible) : undefined
    }
    case 'record': {
      const value = depth < 9 ? arbitraryOf(definition.valueType, depth + 1) : undefined
      return (
        value &&
        fc.array(fc.tuple(userName, value), { maxLength: 3 }).map((entries) => ({
          own: Object.fromEntries(entries.map(([key, { own }]) => [key, own])),
          specified: Object.fromEntries(entries.map(([key, { specified }]) => [key, specified])),
        }))
      )
    }
    case 'object':
      return objectOf(definition.shape, depth).filter(({ own }) => takes(schema, own))
    default:
      return undefined
  }
}

/** Whether it keeps the rules between its settings too. */
function takes(schema: unknown, value: unknown): boolean {
  return (schema as ZodType).safeParse(value).success
}

function listOf(item: fc.Arbitrary<Spelled> | undefined): fc.Arbitrary<Spelled> | undefined {
  return (
    item &&
    fc.array(item, { minLength: 1, maxLength: 2 }).map((items) => ({
      own: items.map(({ own }) => own),
      specified: items.map(({ specified }) => specified),
    }))
  )
}

function objectOf(shape: Record<string, any>, depth: number): fc.Arbitrary<Spelled> {
  const members: Record<string, fc.Arbitrary<Spelled>> = {}
  const requiredKeys: string[] = []
  for (const [key, member] of Object.entries(shape)) {
    const value = arbitraryOf(member, depth + 1)
    if (!value) continue
    members[key] = value
    if (member.def.type !== 'optional') requiredKeys.push(key)
  }
  return fc.record(members, { requiredKeys, noNullPrototype: true }).map((chosen) => ({
    own: Object.fromEntries(Object.entries(chosen).map(([key, { own }]) => [key, own])),
    specified: Object.fromEntries(
      Object.entries(chosen).map(([key, { specified }]) => [
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        specified,
      ]),
    ),
  }))
}

/** Any config that the validation takes. */
export const anyConfig = arbitraryOf(gatewayConfig) as fc.Arbitrary<Spelled>
