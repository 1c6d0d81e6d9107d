import { exactLiteral } from '@vinyasa/source-kit'
import { GraphQLError, GraphQLScalarType, Kind } from 'graphql'
import { isBase64, isFile } from '../bodies/file.ts'

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
      ? 'A signed 64-bit integer, written as a number if that is exact, otherwise as a string.'
      : 'A signed 64-bit integer, written as a string so that clients do not round it.',
    serialize(value) {
      const long = toLong(value)
      return isNumber && Number.isSafeInteger(Number(long)) ? Number(long) : long.toString()
    },
    parseValue: toLong,
    parseLiteral: (node, variables) => toLong(exactLiteral(node, variables)),
  })
}

function toLong(value: unknown): bigint {
  const isExact =
    typeof value === 'bigint' ||
    (typeof value === 'number' && Number.isSafeInteger(value)) ||
    (typeof value === 'string' && /^-?\d{1,19}$/.test(value))
  const long = isExact ? BigInt(value) : undefined
  if (long === undefined || long < MIN_LONG || long > MAX_LONG)
    throw new GraphQLError('Long must be an exact integer from -2^63 to 2^63-1.')
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
