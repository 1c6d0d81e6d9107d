import type { Random } from '../plans/random.ts'

/** How files say whether a field tells unset from zero. */
export const SYNTAXES = ['proto2', 'proto3', '2023', '2024'] as const
export type Syntax = (typeof SYNTAXES)[number]

type Presence = 'implicit' | 'explicit' | 'required'
type Form = 'single' | 'list' | 'map' | 'group' | 'arm'

interface RequestField {
  readonly name: string
  readonly number: number
  /** A scalar, `Kind`, `Nothing`, a well-known type, or `M0` … */
  readonly type: string
  readonly form: Form
  readonly presence: Presence
  readonly key: string
}

export interface RequestProto {
  readonly text: string
  readonly messages: ReadonlyMap<string, readonly RequestField[]>
}

/** A value as a client gives it, and as the strict parser's own library builds it. */
export interface RequestValue {
  readonly args: Readonly<Record<string, unknown>>
  readonly init: Readonly<Record<string, unknown>>
}

const INTEGERS = ['int32', 'sint32', 'uint32', 'fixed32', 'sfixed32']
const LONGS = ['int64', 'sint64', 'uint64', 'fixed64', 'sfixed64']
const SCALARS = [...INTEGERS, ...LONGS, 'double', 'float', 'bool', 'string', 'bytes', 'Kind']
const WELL_KNOWN = [
  'Timestamp',
  'Duration',
  'Int32Value',
  'Int64Value',
  'StringValue',
  'BoolValue',
  'BytesValue',
]
const IMPORTS = ['timestamp', 'duration', 'wrappers'].map((file) => `import "google/protobuf/${file}.proto";`)

/** A service whose request has fields of every kind of presence, in messages of every depth. */
export function randomRequestProto(random: Random, syntax: Syntax, packageName: string): RequestProto {
  const names = random.times(2, 4, (index) => `M${index}`)
  const messages = new Map(names.map((name, index) => [name, fieldsOf(names, index)]))
  const head = syntax.startsWith('proto') ? `syntax = "${syntax}";` : `edition = "${syntax}";`
  const text = `${head} package ${packageName};
${IMPORTS.join('\n')}
enum Kind { ZERO = 0; ONE = 1; MINUS = -1; }
message Nothing {}
message Answered { repeated int32 n = 1; }
${[...messages].map(([name, fields]) => `message ${name} {\n${printFields(name, fields, syntax)}\n}`).join('\n')}
service S { rpc Get(M0) returns (Answered); }
`
  return { text, messages }

  function fieldsOf(all: readonly string[], own: number): readonly RequestField[] {
    let number = 0
    return random.times(2, 8, (index) => {
      number += random.chance(0.1) ? 20 : 1
      const form = random.pick<Form>(['single', 'single', 'single', 'single', 'list', 'map', 'group', 'arm'])
      const presence = random.pick<Presence>(presencesOf(syntax, form))
      // A required message holds no message like the one that holds it: nobody could give it.
      const others = presence === 'required' || form === 'group' ? all.slice(own + 1) : all
      const kind = random.int(10)
      const type =
        form === 'group' || (kind >= 6 && kind < 9)
          ? random.pick(others.length > 0 ? others : ['Nothing'])
          : kind === 9
            ? random.pick([...WELL_KNOWN, 'Nothing'])
            : random.pick(SCALARS)
      const isScalar = SCALARS.includes(type)
      return {
        name: `f_${String.fromCharCode(97 + index)}`,
        number,
        type,
        form: form === 'group' && (type === 'Nothing' || syntax === 'proto3') ? 'single' : form,
        presence: !isScalar && presence === 'implicit' ? 'explicit' : presence,
        key: random.pick(['string', 'int32', 'int64', 'bool']),
      }
    })
  }
}

function presencesOf(syntax: Syntax, form: Form): readonly Presence[] {
  if (form !== 'single' && form !== 'group') return ['explicit']
  if (syntax === 'proto2') return ['explicit', 'required']
  if (syntax === 'proto3') return ['implicit', 'explicit']
  return form === 'group' ? ['explicit', 'required'] : ['implicit', 'explicit', 'required']
}

function printFields(owner: string, fields: readonly RequestField[], syntax: Syntax): string {
  const isEdition = !syntax.startsWith('proto')
  const lines = fields.map(({ name, number, form, presence, key, type: bare }) => {
    const type = WELL_KNOWN.includes(bare) ? `google.protobuf.${bare}` : bare
    if (form === 'map') return `map<${key}, ${type}> ${name} = ${number};`
    if (form === 'list') return `repeated ${type} ${name} = ${number};`
    if (form === 'arm')
      return `oneof of_${name} { ${type} ${name} = ${number}; bool other_${name} = ${number + 5000}; }`
    const features = [
      ...(presence === 'required' ? ['features.field_presence = LEGACY_REQUIRED'] : []),
      ...(presence === 'implicit' ? ['features.field_presence = IMPLICIT'] : []),
      ...(form === 'group' ? ['features.message_encoding = DELIMITED'] : []),
    ]
    if (isEdition)
      return `${type} ${name} = ${number}${features.length > 0 ? ` [${features.join(', ')}]` : ''};`
    const label = presence === 'implicit' ? '' : presence === 'required' ? 'required ' : 'optional '
    const isMessage = !SCALARS.includes(bare)
    if (syntax === 'proto3') return `${isMessage ? '' : label}${type} ${name} = ${number};`
    // A group is a message of its own: it holds the other one.
    if (form === 'group')
      return `${label}group G${owner}${name} = ${number} { required ${type} in = 1; required int32 n = 2; }`
    return `${label}${type} ${name} = ${number};`
  })
  return lines.map((line) => `  ${line}`).join('\n')
}

/** A request in which what may be zero mostly is. */
export function randomRequest(random: Random, { messages }: RequestProto, syntax: Syntax): RequestValue {
  return messageValue('M0', 0)

  function messageValue(type: string, depth: number): RequestValue {
    const args: Record<string, unknown> = {}
    const init: Record<string, unknown> = {}
    for (const field of messages.get(type) ?? []) {
      const { name, form, presence } = field
      const isMessage = messages.has(field.type)
      const isLeftOut = random.chance(0.3) || (isMessage && depth > 3)
      if (presence !== 'required' && isLeftOut) {
        if (random.chance(0.3)) args[camel(name)] = null
        continue
      }
      const [arg, own] = fieldValue(field, depth)
      const key = form === 'group' && syntax === 'proto2' ? groupKey(type, name) : camel(name)
      if (form === 'arm') {
        const isWrapped = random.chance(0.5)
        if (isWrapped) args[`of${camel(`_${name}`)}`] = { [camel(name)]: arg }
        else args[camel(name)] = arg
        init[`of${camel(`_${name}`)}`] = { case: camel(name), value: own }
        continue
      }
      args[key] = arg
      if (own !== undefined) init[key] = own
    }
    return { args, init }
  }

  function fieldValue(field: RequestField, depth: number): readonly [unknown, unknown] {
    const { form, type, key } = field
    if (form === 'list') {
      const items = random.times(0, 3, () => boxed(type, depth))
      return [items.map(([arg]) => arg), items.map(([, own]) => own)]
    }
    if (form === 'map') {
      const keys = [...new Set(random.times(0, 3, () => keyOf(key)))]
      const entries = keys.map((one) => [one, boxed(type, depth)] as const)
      return [
        entries.map(([one, [arg]]) => ({
          key: key === 'bool' ? one === 'true' : key === 'int32' ? Number(one) : one,
          value: arg,
        })),
        Object.fromEntries(entries.map(([one, [, own]]) => [one, own])),
      ]
    }
    const [arg, own] =
      form === 'arm' || (form === 'group' && syntax === 'proto2') ? boxed(type, depth) : single(type, depth)
    if (form !== 'group' || syntax !== 'proto2') return [arg, own]
    return [
      { in: arg, n: 0 },
      { in: own, n: 0 },
    ]
  }

  /** The strict library takes wrappers as their values only in fields of their own. */
  function boxed(type: string, depth: number): readonly [unknown, unknown] {
    const [arg, own] = single(type, depth)
    return [arg, type.endsWith('Value') ? { value: own } : own]
  }

  function keyOf(type: string): string {
    if (type === 'bool') return random.pick(['true', 'false'])
    return random.pick(type === 'string' ? ['', 'a'] : ['0', '7'])
  }

  function single(type: string, depth: number): readonly [unknown, unknown] {
    if (messages.has(type)) {
      const { args, init } = messageValue(type, depth + 1)
      return [args, init]
    }
    const isZero = random.chance(0.6)
    if (INTEGERS.includes(type)) return isZero ? [0, 0] : [7, 7]
    if (LONGS.includes(type))
      return isZero ? [random.pick<unknown>(['0', 0]), 0n] : ['9007199254740993', 9_007_199_254_740_993n]
    switch (type) {
      case 'double':
      case 'float': {
        const value = isZero ? 0 : random.pick([-0, 1.5])
        return [value, value]
      }
      case 'bool':
        return [!isZero, !isZero]
      case 'string':
        return isZero ? ['', ''] : ['é', 'é']
      case 'bytes':
        return isZero ? ['', new Uint8Array()] : ['AAE=', Uint8Array.of(0, 1)]
      case 'Kind':
        return isZero
          ? ['ZERO', 0]
          : random.pick([
              ['ONE', 1],
              ['MINUS', -1],
            ] as const)
      case 'Nothing':
        return [true, {}]
      case 'Timestamp':
        return isZero ? ['1970-01-01T00:00:00Z', {}] : ['1970-01-01T00:00:05Z', { seconds: 5n }]
      case 'Duration':
        return isZero ? ['0s', {}] : ['1.5s', { seconds: 1n, nanos: 500_000_000 }]
      case 'Int32Value':
        return isZero ? [0, 0] : [7, 7]
      case 'Int64Value':
        return isZero ? ['0', 0n] : ['7', 7n]
      case 'StringValue':
        return isZero ? ['', ''] : ['a', 'a']
      case 'BoolValue':
        return [!isZero, !isZero]
      default:
        return isZero ? ['', new Uint8Array()] : ['AAE=', Uint8Array.of(0, 1)]
    }
  }
}

function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, char: string) => char.toUpperCase())
}

/** The field of a group is called like its message, in small letters. */
function groupKey(owner: string, name: string): string {
  return camel(`G${owner}${name}`.toLowerCase())
}
