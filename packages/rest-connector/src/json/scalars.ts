import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped, type ValueNode } from 'graphql'
import { isBase64, isFile } from '../bodies/file.ts'

/** Any JSON value, as it came. */
export function createJsonScalar(): GraphQLScalarType {
  return new GraphQLScalarType({
    name: 'JSON',
    description: 'Any JSON value.',
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
    serialize: (value) => value,
    parseValue: (value) => value,
    parseLiteral: exactLiteral,
  })
}

const MAX_DIGITS = 1_000

/** A literal's value; integers that a JavaScript number would round keep their digits. */
function exactLiteral(node: ValueNode, variables: Parameters<typeof valueFromASTUntyped>[1]): unknown {
  switch (node.kind) {
    case Kind.INT: {
      // `BigInt` takes quadratic time.
      if (node.value.length > MAX_DIGITS)
        throw new GraphQLError(`An integer in JSON must have at most ${MAX_DIGITS} digits.`, { nodes: node })
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

const MIN_LONG = -(2n ** 63n)
const MAX_LONG = 2n ** 63n - 1n

/** How 64-bit integers look in answers: always exact. */
export type Int64Mode = 'string' | 'number-when-safe'

/** A 64-bit integer; a string of digits where a JSON number of a browser would round it, or always. */
export function createLongScalar(int64: Int64Mode): GraphQLScalarType {
  const isNumber = int64 === 'number-when-safe'
  return new GraphQLScalarType({
    name: 'Long',
    description: isNumber
      ? 'A signed 64-bit integer: a number where that is exact, else a string.'
      : 'A signed 64-bit integer, written as a string so that no client rounds it.',
    serialize(value) {
      const long = toLong(value)
      return isNumber && Number.isSafeInteger(Number(long)) ? Number(long) : long.toString()
    },
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

/** A file of a multipart request, or its bytes in base64; the name and the forms are those of grpc-source. */
export function createUploadScalar(): GraphQLScalarType {
  return new GraphQLScalarType({
    name: 'Upload',
    description: 'A file of a multipart request, or binary data as base64 text.',
    specifiedByURL: 'https://github.com/jaydenseric/graphql-multipart-request-spec',
    serialize: (value) => value,
    parseValue: toUpload,
    parseLiteral: (node) => toUpload(node.kind === Kind.STRING ? node.value : undefined),
  })
}

function toUpload(value: unknown): unknown {
  if (isFile(value) || value instanceof Uint8Array || (typeof value === 'string' && isBase64(value)))
    return value
  throw new GraphQLError('Upload must be a file of a multipart request, or base64 text.')
}
