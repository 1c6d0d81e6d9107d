/** How files say whether a field tells unset from zero. */
export const SYNTAXES = ['proto2', 'proto3', '2023', '2024'] as const
export type Syntax = (typeof SYNTAXES)[number]

export type Presence = 'implicit' | 'explicit' | 'required'
export type Form = 'single' | 'list' | 'map' | 'group' | 'groups' | 'arm'

export interface RequestField {
  readonly name: string
  readonly number: number
  /** A scalar, `Kind`, `Odd`, `Nothing`, a well-known type, or `M0` … */
  readonly type: string
  readonly form: Form
  readonly presence: Presence
  readonly key: string
  /** Whether it states another default than zero. */
  readonly hasDefault: boolean
  /** Of a list. */
  readonly isPacked: boolean
}

export const INTEGERS: readonly string[] = ['int32', 'sint32', 'uint32', 'fixed32', 'sfixed32']
export const LONGS: readonly string[] = ['int64', 'sint64', 'uint64', 'fixed64', 'sfixed64']
export const SCALARS: readonly string[] = [
  ...INTEGERS,
  ...LONGS,
  'double',
  'float',
  'bool',
  'string',
  'bytes',
  'Kind',
  'Odd',
]
export const WELL_KNOWN: readonly string[] = [
  'Timestamp',
  'Duration',
  'Int32Value',
  'Int64Value',
  'StringValue',
  'BoolValue',
  'BytesValue',
]
