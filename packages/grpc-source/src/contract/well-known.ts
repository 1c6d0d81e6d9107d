const WELL_KNOWN = [
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
  'google.protobuf.FieldMask',
  'google.protobuf.Struct',
  'google.protobuf.Value',
  'google.protobuf.ListValue',
  'google.protobuf.Any',
  'google.protobuf.DoubleValue',
  'google.protobuf.FloatValue',
  'google.protobuf.Int64Value',
  'google.protobuf.UInt64Value',
  'google.protobuf.Int32Value',
  'google.protobuf.UInt32Value',
  'google.protobuf.BoolValue',
  'google.protobuf.StringValue',
  'google.protobuf.BytesValue',
] as const

/** The messages that have a GraphQL form of their own. `Empty` needs none: it is a message without fields. */
export type WellKnownType = (typeof WELL_KNOWN)[number]

const NAMES: ReadonlySet<string> = new Set(WELL_KNOWN)

export function isWellKnown(typeName: string): typeName is WellKnownType {
  return NAMES.has(typeName)
}
