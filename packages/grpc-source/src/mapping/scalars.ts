import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped, type ValueNode } from 'graphql'
import { isBase64, shown } from '../codec/scalar-codecs.ts'
import { parseDuration, parseTimestamp } from '../codec/time.ts'

/** The scalars that protobuf needs and GraphQL has not. They pass values on and check what comes in. */
export type CustomScalar =
  | 'DateTime'
  | 'Duration'
  | 'Bytes'
  | 'Upload'
  | 'FieldMask'
  | 'UInt32'
  | 'Long'
  | 'BigInt'

export function createScalar(name: CustomScalar, typeName: string): GraphQLScalarType {
  const type = makeScalar(name, typeName)
  Object.defineProperty(type.serialize, OWN, { value: name })
  return type
}

function makeScalar(name: CustomScalar, typeName: string): GraphQLScalarType {
  switch (name) {
    case 'DateTime':
      return scalar(
        typeName,
        'An RFC 3339 date and time with up to nine decimals of a second, such as `2026-01-31T12:00:00.5Z`.',
        {
          parse: (value) => (parseTimestamp(value, typeName), value),
          specifiedBy: 'https://www.rfc-editor.org/rfc/rfc3339',
          output: (value) => (value instanceof Date ? value.toISOString() : value),
        },
      )
    case 'Duration':
      return scalar(typeName, 'A duration in seconds with up to nine decimals, such as `1.5s`.', {
        parse: (value) => (parseDuration(value, typeName), value),
      })
    case 'Bytes':
    case 'Upload': {
      const what = name === 'Bytes' ? 'Binary' : 'A file of a multipart request, or binary'
      return scalar(typeName, `${what} data as base64 text.`, { parse: parseBytes, output: toBase64 })
    }
    case 'FieldMask':
      return scalar(typeName, 'Field paths separated by commas: `name,address.street`.', {
        parse: (value) => value,
      })
    case 'UInt32':
      return scalar(typeName, 'An integer from 0 to 4294967295.', {
        parse: (value) =>
          checked(
            value,
            typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 4_294_967_295,
            typeName,
            'an integer from 0 to 4294967295',
          ),
      })
    case 'Long':
      return scalar(typeName, 'A 64-bit integer, sent as a number if that is exact, otherwise as a string.', {
        parse: (value) => parseLong(value, typeName),
      })
    case 'BigInt':
      return scalar(typeName, 'A 64-bit integer, sent as a string.', {
        parse: (value) => BigInt(parseLong(value, typeName)),
        output: String,
      })
  }
}

const OWN = Symbol('scalar of grpc-source')

/** Whether a scalar writes values as the one made here does, and was not replaced by another of the name. */
export function isOwnScalar(type: GraphQLScalarType, name: CustomScalar): boolean {
  return (type.serialize as { readonly [OWN]?: CustomScalar })[OWN] === name
}

interface ScalarFunctions {
  readonly parse: (value: unknown) => unknown
  readonly output?: (value: unknown) => unknown
  readonly specifiedBy?: string
}

function scalar(name: string, description: string, functions: ScalarFunctions): GraphQLScalarType {
  const { parse, output = (value) => value, specifiedBy } = functions
  return new GraphQLScalarType({
    name,
    description,
    specifiedByURL: specifiedBy,
    // One function for one scalar: it is marked with the name.
    serialize: (value) => output(value),
    parseValue: parse,
    parseLiteral: (node, variables) => parse(literalValue(node, variables)),
  })
}

/** A literal's value; integers past 2^53 keep their digits. */
function literalValue(node: ValueNode, variables: Parameters<typeof valueFromASTUntyped>[1]): unknown {
  if (node.kind !== Kind.INT) return valueFromASTUntyped(node, variables)
  const number = Number(node.value)
  return Number.isSafeInteger(number) ? number : node.value
}

function parseLong(value: unknown, typeName: string): string | number {
  if (typeof value === 'bigint') return String(value)
  const valid =
    (typeof value === 'number' && Number.isSafeInteger(value)) ||
    (typeof value === 'string' && /^-?\d{1,20}$/.test(value))
  return checked(
    value,
    valid,
    typeName,
    'a 64-bit integer (a string if its absolute value is 2^53 or more)',
  ) as string | number
}

function parseBytes(value: unknown): unknown {
  const valid = value instanceof Uint8Array || isFile(value) || (typeof value === 'string' && isBase64(value))
  return checked(value, valid, 'Bytes', 'base64 text')
}

/** Servers bring their own File class. */
export function isFile(value: unknown): value is { arrayBuffer(): Promise<ArrayBuffer> } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'arrayBuffer' in value &&
    typeof value.arrayBuffer === 'function'
  )
}

function toBase64(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

function checked(value: unknown, valid: boolean, typeName: string, expected: string): unknown {
  if (valid) return value
  throw new GraphQLError(`${typeName} must be ${expected}, got ${shown(value)}`)
}
