import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped, type ValueNode } from 'graphql'

/** Creates the scalar `JSON` for any JSON value. `serialize` converts values for the response. Default: unchanged. */
export function createJsonScalar(serialize = (value: unknown): unknown => value): GraphQLScalarType {
  return new GraphQLScalarType({
    name: 'JSON',
    description: 'Any JSON value.',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
    serialize,
    parseValue: unrounded,
    parseLiteral: exactLiteral,
  })
}

/** A variable's integers of 2^53 and more have been rounded before, so their digits are unknown. */
function unrounded(value: unknown): unknown {
  const parts = [value]
  // Parts are added meanwhile; recursion would have no bound.
  for (const next of parts) {
    if (typeof next === 'number' && Number.isInteger(next) && !Number.isSafeInteger(next))
      throw new GraphQLError(
        `The JSON variable contains an integer of about ${next}. The absolute value of an integer in a JSON variable must be less than 2^53, because JavaScript rounds larger integers. Write the value in the document, or send it as a string.`,
      )
    if (typeof next === 'object' && next !== null) for (const item of Object.values(next)) parts.push(item)
  }
  return value
}

const MAX_DIGITS = 1_000

/** Returns the value of a literal. Integers beyond the safe range become a `bigint`, so they keep all digits. */
export function exactLiteral(
  node: ValueNode,
  variables?: Parameters<typeof valueFromASTUntyped>[1],
): unknown {
  switch (node.kind) {
    case Kind.INT: {
      // `BigInt` takes quadratic time.
      if (node.value.length > MAX_DIGITS)
        throw new GraphQLError(
          `An integer in a JSON value must have at most ${MAX_DIGITS} digits. Send longer integers as strings.`,
          { nodes: node },
        )
      const number = Number(node.value)
      return Number.isSafeInteger(number) ? number : BigInt(node.value)
    }
    case Kind.LIST:
      return node.values.map((item) => exactLiteral(item, variables))
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.map(({ name, value }) => [name.value, exactLiteral(value, variables)]),
      )
    default:
      return valueFromASTUntyped(node, variables)
  }
}

/** Returns a JSON value in which each `bigint` is replaced by a string of its digits. */
export function withoutBigInts(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(withoutBigInts)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const entries = Object.entries(value)
  let isChanged = false
  for (const entry of entries) {
    const item = withoutBigInts(entry[1])
    isChanged ||= item !== entry[1]
    entry[1] = item
  }
  return isChanged ? Object.fromEntries(entries) : value
}
