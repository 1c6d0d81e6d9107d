import type { Random } from './random.ts'

export const SCALARS = [
  'double',
  'float',
  'int32',
  'int64',
  'uint32',
  'uint64',
  'sint32',
  'sint64',
  'fixed32',
  'fixed64',
  'sfixed32',
  'sfixed64',
  'bool',
  'string',
  'bytes',
] as const

export const WELL_KNOWN = [
  'Timestamp',
  'Duration',
  'FieldMask',
  'Struct',
  'Value',
  'ListValue',
  'Any',
  'Empty',
  'StringValue',
  'Int64Value',
  'UInt32Value',
  'DoubleValue',
  'BoolValue',
  'BytesValue',
] as const

const KEYS = ['string', 'int32', 'int64', 'uint64', 'bool', 'sfixed32'] as const

export interface RandomField {
  readonly name: string
  readonly number: number
  /** A scalar, `E` for the enum, `M0` … for a message, or a well-known type. */
  readonly type: string
  readonly label: '' | 'optional' | 'repeated' | 'map' | 'group'
  readonly key: string | undefined
  readonly oneof: boolean
  readonly options: string
}

export interface RandomMessage {
  readonly name: string
  readonly fields: readonly RandomField[]
}

export interface RandomProto {
  readonly text: string
  readonly messages: readonly RandomMessage[]
  /** By `/package.Service/Method`. */
  readonly outputs: ReadonlyMap<string, RandomMessage>
}

/** A service whose messages have fields of every kind, and hold one another and themselves. */
export function randomProto(random: Random): RandomProto {
  const isProto2 = random.chance(0.25)
  const messageNames = random.times(1, 4, (index) => `M${index}`)
  const messages = messageNames.map((name) => ({ name, fields: fieldsOf(messageNames) }))
  const outputs = new Map<string, RandomMessage>()
  const methods = random.times(1, 3, (index) => {
    const output = random.pick(messages)
    outputs.set(`/t.S/Get${index}`, output)
    const pluck = random.chance(0.3) ? `response: { pluck: "${random.pick(output.fields).name}" }` : ''
    const required = pluck === '' && random.chance(0.1) ? 'response: { required: true }' : ''
    return `  rpc Get${index}(Req) returns (${output.name}) { option (graphql.schema) = { name: "get${index}" ${pluck} ${required} }; }`
  })
  const optional = isProto2 ? 'optional ' : ''
  const text = `syntax = "${isProto2 ? 'proto2' : 'proto3'}"; package t;
import "graphql.proto";
${['timestamp', 'duration', 'field_mask', 'struct', 'any', 'empty', 'wrappers'].map((file) => `import "google/protobuf/${file}.proto";`).join('\n')}
service S {
${methods.join('\n')}
}
enum E { E_UNSPECIFIED = 0; E_ONE = 1; E_TWO = 2; E_NEGATIVE = -3; }
message Req { ${optional}string id = 1; optional int64 count = 2; repeated E kinds = 3; ${optional}In in = 4; }
message In { ${optional}bool on = 1; ${optional}In in = 2; ${optional}google.protobuf.Timestamp at = 3; map<string, int32> sizes = 4; }
message Nothing {}
${messages.map(printMessage).join('\n')}`
  return { text, messages, outputs }

  function fieldsOf(others: readonly string[]): RandomField[] {
    let number = 0
    return random.times(2, 9, (index) => {
      number += random.chance(0.1) ? 1 + random.int(3000) : 1 + random.int(2)
      return randomField(index, number, others)
    })
  }

  function randomField(index: number, number: number, others: readonly string[]): RandomField {
    const label = random.pick([
      '',
      '',
      '',
      'optional',
      'repeated',
      'repeated',
      'map',
      'oneof',
      'group',
    ] as const)
    const kind = random.int(10)
    const type =
      kind < 4
        ? random.pick(SCALARS)
        : kind < 5
          ? 'E'
          : kind < 8
            ? random.pick([...others, ...others, 'Nothing'])
            : random.pick(WELL_KNOWN)
    const isMessage = /^[MN]\d?/.test(type) && !isScalar(type)
    const isRequired = random.chance(0.1) && label !== 'map' && type !== 'Empty' && type !== 'Nothing'
    return {
      name: `f_${index}${random.pick(['', '_long_name', 'x'])}`,
      number,
      type: label === 'group' && isProto2 ? random.pick(others) : type,
      label:
        label === 'oneof' || (label === 'group' && !isProto2)
          ? ''
          : label === 'optional' && isMessage
            ? ''
            : label,
      key: random.pick(KEYS),
      oneof: label === 'oneof',
      options: isRequired ? ' [(graphql.field).required = true]' : '',
    }
  }

  function printMessage({ name, fields }: RandomMessage): string {
    const lines = fields
      .filter(({ oneof }) => !oneof)
      .map((field) => {
        const { label, type, number, options, key } = field
        const written = typeName(type)
        if (label === 'map') return `  map<${key}, ${written}> ${field.name} = ${number};`
        if (label === 'group')
          return `  optional group G${name}${field.name} = ${number} { optional string a = 1; repeated sint32 b = 2; optional ${written} c = 3; }`
        const prefix = label === '' ? optional : `${label} `
        return `  ${prefix}${written} ${field.name} = ${number}${options};`
      })
    const arms = fields
      .filter(({ oneof }) => oneof)
      .map(({ type, number, ...field }) => `    ${typeName(type)} ${field.name} = ${number};`)
    const oneof = arms.length === 0 ? [] : [`  oneof arm {\n${arms.join('\n')}\n  }`]
    return `message ${name} {\n${[...lines, ...oneof].join('\n')}\n}`
  }
}

export function isScalar(type: string): boolean {
  return (SCALARS as readonly string[]).includes(type)
}

function typeName(type: string): string {
  return (WELL_KNOWN as readonly string[]).includes(type) ? `google.protobuf.${type}` : type
}
