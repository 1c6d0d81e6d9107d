import { ScalarType, type DescField, type DescMessage, type JsonValue } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import * as fc from 'fast-check'

/** The JSON of any message of a type: what clients cannot be shown, such as NaN and unknown enum numbers, is not drawn. */
export function messages(desc: DescMessage, depth: number): fc.Arbitrary<Record<string, JsonValue>> {
  const drawn = desc.fields.filter((field) => {
    const isOmitted = field.name === 'hidden' || field.message?.typeName === 'google.protobuf.Any'
    return (
      !isOmitted &&
      (depth > 0 || field.message === undefined || field.message.typeName.startsWith('google.protobuf.'))
    )
  })
  const model = Object.fromEntries(drawn.map((field) => [field.jsonName, fieldValues(field, depth)]))
  const requiredKeys = drawn
    .filter(({ presence }) => presence === FeatureSet_FieldPresence.LEGACY_REQUIRED)
    .map(({ jsonName }) => jsonName)
  return fc.record(model, { requiredKeys }).map((json) => {
    for (const oneof of desc.oneofs) {
      const set = oneof.fields.filter(({ jsonName }) => Object.hasOwn(json, jsonName))
      for (const { jsonName } of set.slice(1)) delete json[jsonName]
    }
    return json as Record<string, JsonValue>
  })
}

function fieldValues(field: DescField, depth: number): fc.Arbitrary<JsonValue> {
  switch (field.fieldKind) {
    case 'list':
      return fc.array(values(field, depth), { maxLength: 2 })
    case 'map':
      return fc.dictionary(scalars(field.mapKey).map(String), values(field, depth), {
        maxKeys: 2,
        noNullPrototype: true,
      })
    default:
      return values(field, depth)
  }
}

function values({ message, enum: type, scalar }: DescField, depth: number): fc.Arbitrary<JsonValue> {
  if (type) return fc.constantFrom(...type.values.map(({ name }) => name))
  if (message) return wellKnown(message.typeName) ?? messages(message, depth - 1)
  return scalars(scalar as ScalarType)
}

function scalars(type: ScalarType): fc.Arbitrary<string | number | boolean> {
  const long = (min: bigint, max: bigint) => fc.bigInt({ min, max }).map(String)
  switch (type) {
    case ScalarType.BOOL:
      return fc.boolean()
    case ScalarType.STRING:
      return fc.string({ unit: 'grapheme' })
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64'))
    case ScalarType.FLOAT:
      return fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat(2 ** 32 - 1)
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return long(0n, 2n ** 64n - 1n)
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return long(-(2n ** 63n), 2n ** 63n - 1n)
    default:
      return fc.integer()
  }
}

function wellKnown(typeName: string): fc.Arbitrary<JsonValue> | undefined {
  const json = fc
    .jsonValue({ maxDepth: 2, noUnicodeString: false })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue)
  switch (typeName.replace('google.protobuf.', '')) {
    case 'Timestamp':
      return fc
        .date({
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59Z'),
          noInvalidDate: true,
        })
        .map((date) => date.toISOString())
    case 'Duration':
      return fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((seconds) => `${seconds}.5s`)
    case 'FieldMask':
      return fc.array(fc.constantFrom('a', 'bC', 'dEf.g'), { maxLength: 2 }).map((paths) => paths.join(','))
    case 'Struct':
      return fc.dictionary(fc.string(), json, { noNullPrototype: true, maxKeys: 2 })
    case 'Value':
      return json.filter((value) => value !== null)
    case 'ListValue':
      return fc.array(json, { maxLength: 2 })
    case 'Int64Value':
      return scalars(ScalarType.INT64)
    case 'UInt64Value':
      return scalars(ScalarType.UINT64)
    case 'Int32Value':
      return scalars(ScalarType.INT32)
    case 'UInt32Value':
      return scalars(ScalarType.UINT32)
    case 'DoubleValue':
      return scalars(ScalarType.DOUBLE)
    case 'FloatValue':
      return scalars(ScalarType.FLOAT)
    case 'BoolValue':
      return fc.boolean()
    case 'StringValue':
      return scalars(ScalarType.STRING)
    case 'BytesValue':
      return scalars(ScalarType.BYTES)
    default:
      return undefined
  }
}
