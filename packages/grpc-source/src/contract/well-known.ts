import { ScalarType } from '@bufbuild/protobuf'

/** The messages that map to scalars. `Empty` is not one of them, because a message without fields is a Boolean. */
export type WellKnownType = `google.protobuf.${Scalar | `${Wrapped}Value`}`
type Scalar = 'Timestamp' | 'Duration' | 'FieldMask' | 'Struct' | 'Value' | 'ListValue' | 'Any'
type Wrapped = 'Double' | 'Float' | 'Int64' | 'UInt64' | 'Int32' | 'UInt32' | 'Bool' | 'String' | 'Bytes'

/** The GraphQL scalar of each well-known message, or the protobuf scalar that a wrapper message holds. */
export const WELL_KNOWN: Readonly<
  Record<WellKnownType, 'DateTime' | 'Duration' | 'FieldMask' | 'JSON' | ScalarType>
> = {
  'google.protobuf.Timestamp': 'DateTime',
  'google.protobuf.Duration': 'Duration',
  'google.protobuf.FieldMask': 'FieldMask',
  'google.protobuf.Struct': 'JSON',
  'google.protobuf.Value': 'JSON',
  'google.protobuf.ListValue': 'JSON',
  'google.protobuf.Any': 'JSON',
  'google.protobuf.DoubleValue': ScalarType.DOUBLE,
  'google.protobuf.FloatValue': ScalarType.FLOAT,
  'google.protobuf.Int64Value': ScalarType.INT64,
  'google.protobuf.UInt64Value': ScalarType.UINT64,
  'google.protobuf.Int32Value': ScalarType.INT32,
  'google.protobuf.UInt32Value': ScalarType.UINT32,
  'google.protobuf.BoolValue': ScalarType.BOOL,
  'google.protobuf.StringValue': ScalarType.STRING,
  'google.protobuf.BytesValue': ScalarType.BYTES,
}

export function isWellKnown(typeName: string): typeName is WellKnownType {
  return Object.hasOwn(WELL_KNOWN, typeName)
}
