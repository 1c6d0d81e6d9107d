import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped } from 'graphql'

/** Any JSON value, as it came. */
export function createJsonScalar(): GraphQLScalarType {
  return new GraphQLScalarType({
    name: 'JSON',
    description: 'Any JSON value.',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
    serialize: (value) => value,
    parseValue: (value) => value,
    parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
  })
}

const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n

/** A 64-bit integer; a string of digits in JSON, because a JSON number of a browser would round it. */
export function createLongScalar(): GraphQLScalarType {
  return new GraphQLScalarType({
    name: 'Long',
    description: 'A signed 64-bit integer, written as a string so that no client rounds it.',
    serialize: (value) => toLong(value).toString(),
    parseValue: toLong,
    parseLiteral(node) {
      if (node.kind === Kind.INT || node.kind === Kind.STRING) return toLong(node.value)
      throw new GraphQLError('Long must be an integer or a string of digits.', { nodes: node })
    },
  })
}

function toLong(value: unknown): bigint {
  const isExact =
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isSafeInteger(value)) ||
    (typeof value === 'string' && /^-?\d{1,19}$/.test(value))
  const long = isExact ? BigInt(value) : undefined
  if (long === undefined || long < MIN_LONG || long > MAX_LONG)
    throw new GraphQLError('Long must be an integer from -2^63 to 2^63-1, written exactly.')
  return long
}
