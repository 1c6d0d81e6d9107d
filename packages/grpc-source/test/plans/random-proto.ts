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
  /** It has few values, so that some are equal. */
  readonly isKey?: boolean
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
  readonly joins: readonly RandomJoin[]
}

/** Fields by their names in the proto. */
export interface RandomJoin {
  readonly type: string
  readonly field: string
  readonly method: string
  readonly parentKey: string
  readonly itemKey: string
  readonly many: boolean
  readonly required: boolean
  readonly maxBatchSize: number | undefined
}

/** A service whose messages have fields of every kind, and hold one another and themselves. */
export function randomProto(random: Random): RandomProto {
  const isProto2 = random.chance(0.25)
  const messageNames = random.times(1, 4, (index) => `M${index}`)
  const messages: RandomMessage[] = messageNames.map((name) => ({ name, fields: fieldsOf(messageNames) }))
  const joined = random.times(0, 3, (index) => randomJoin(index))
  const outputs = new Map<string, RandomMessage>()
  const methods = random.times(1, 3, (index) => {
    const output = random.pick(messages)
    outputs.set(`/t.S/Get${index}`, output)
    const pluck = random.chance(0.3) ? `response: { pluck: "${random.pick(output.fields).name}" }` : ''
    const required = pluck === '' && random.chance(0.1) ? 'response: { required: true }' : ''
    return `  rpc Get${index}(Req) returns (${output.name}) { option (graphql.schema) = { name: "get${index}" ${pluck} ${required} }; }`
  })
  for (const [index, { items }] of joined.entries()) {
    outputs.set(`/t.S/Batch${index}`, items)
    methods.push(`  rpc Batch${index}(Keys${index}) returns (${items.name});`)
    messages.push(items)
  }
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
${joined.map(({ keys }, index) => `message Keys${index} { repeated ${keys} ids = 1; }`).join('\n')}
${messages.map(printMessage).join('\n')}`
  return { text, messages, outputs, joins: joined.map(({ join }) => join) }

  function randomJoin(index: number): {
    readonly join: RandomJoin
    readonly keys: string
    readonly items: RandomMessage
  } {
    const [parent, item] = [random.pick(messages), random.pick(messages)]
    // The field of a group is not called as the group.
    const keyOf = ({ fields }: RandomMessage): string =>
      (random.chance(0.9)
        ? fields.find(({ isKey }) => isKey)
        : random.pick(fields.filter(({ label }) => label !== 'group'))
      )?.name as string
    const items = {
      name: 'items',
      number: random.chance(0.1) ? 700 : 20,
      type: item.name,
      label: 'repeated',
      key: undefined,
      oneof: false,
      options: '',
    } as const
    return {
      join: {
        type: parent.name,
        field: `join${index}`,
        method: `t.S.Batch${index}`,
        parentKey: keyOf(parent),
        itemKey: keyOf(item),
        many: random.chance(0.3),
        required: random.chance(0.15),
        maxBatchSize: random.pick([undefined, undefined, 1, 2]),
      },
      keys: random.chance(0.9) ? 'string' : random.pick(['int64', 'E']),
      items: {
        name: `Items${index}`,
        fields: random.chance(0.3) ? [...fieldsOf(messageNames).slice(0, 2), items] : [items],
      },
    }
  }

  function fieldsOf(others: readonly string[]): RandomField[] {
    let number = 0
    const next = (): number => (number += random.chance(0.1) ? 1 + random.int(3000) : 1 + random.int(2))
    const fields = random.times(2, 9, (index) => randomField(index, next(), others))
    const key: RandomField = {
      name: 'k_id',
      number: next(),
      type: random.pick([
        'string',
        'string',
        'string',
        'int32',
        'int64',
        'bool',
        'E',
        'StringValue',
        'double',
      ]),
      label: random.pick(['', '', 'optional']),
      key: undefined,
      oneof: random.chance(0.1),
      options: '',
      isKey: true,
    }
    return [...fields, key.type === 'StringValue' || key.oneof ? { ...key, label: '' } : key]
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
