import { create } from '@bufbuild/protobuf'
import {
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type DescriptorProto,
  type FieldDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import { toMapEntryName } from '../proto-names.ts'
import { inScope, keepComments, keepOptions, type ParseContext } from './context.ts'
import { readBracketedOptions, type WrittenOption } from './option-text.ts'
import { FIELD_NUMBERS, MESSAGE_SET_NUMBERS } from './parse-ranges.ts'
import { parseInteger } from './token-reader.ts'
import { ProtoSyntaxError, type Token } from './tokens.ts'

export const SCALARS: ReadonlyMap<string, FieldDescriptorProto_Type> = new Map(
  'double float int64 uint64 int32 fixed64 fixed32 bool string bytes uint32 sfixed32 sfixed64 sint32 sint64'
    .split(' ')
    .map((name) => [
      name,
      FieldDescriptorProto_Type[name.toUpperCase() as keyof typeof FieldDescriptorProto_Type],
    ]),
)

const LABELS: ReadonlyMap<string, FieldDescriptorProto_Label> = new Map([
  ['optional', FieldDescriptorProto_Label.OPTIONAL],
  ['required', FieldDescriptorProto_Label.REQUIRED],
  ['repeated', FieldDescriptorProto_Label.REPEATED],
])

const KEYS: ReadonlySet<string> = new Set(
  [...SCALARS.keys()].filter((type) => !['double', 'float', 'bytes'].includes(type)),
)

/** The element that fields stand in: a message, or an `extend` block. */
export interface FieldHolder {
  readonly kind: 'message' | 'oneof' | 'extend'
  readonly scope: string
  readonly fields: FieldDescriptorProto[]
  /** The path of the list of fields, as source code info numbers it. */
  readonly path: readonly number[]
  /** Reads the message of a group, whose `{` was taken. */
  addGroup(name: string, at: Token): void
}

/** Reads one field, with the message that a group brings along, into its holder. */
export function parseField(context: ParseContext, holder: FieldHolder): FieldDescriptorProto {
  const { tokens } = context
  const from = tokens.peek()
  const label = readLabel(context, holder)
  const isGroup = tokens.looksAt('group') && tokens.peek(1).kind === 'name' && tokens.looksAt('=', 2)
  const typeAt = tokens.peek()
  if (isGroup) refuseGroup(context)
  const type = tokens.dottedName("a field's type")
  const nameAt = tokens.peek()
  const written = tokens.name("the field's name")
  tokens.expect('=')
  const name = isGroup ? written.toLowerCase() : written
  const numberAt = tokens.peek()
  const proto = create(FieldDescriptorProtoSchema, {
    name,
    number: readNumber(context, inScope(holder.scope, name), holder.kind),
    label: label ?? FieldDescriptorProto_Label.OPTIONAL,
    jsonName: protoCamelCase(name),
    proto3Optional: context.syntax === 'proto3' && label === FieldDescriptorProto_Label.OPTIONAL,
  })
  const path = [...holder.path, holder.fields.length]
  holder.fields.push(proto)
  const entries = readBracketedOptions(tokens)
  if (isGroup) {
    proto.type = FieldDescriptorProto_Type.GROUP
    keepComments(context, path, from, tokens.expect('{'))
    holder.addGroup(written, nameAt)
  } else {
    keepComments(context, path, from, tokens.expect(';'))
  }
  const place = { name: nameAt, number: numberAt, type: typeAt, brackets: entries }
  context.places.set(proto, place)
  setType(context, proto, { name: isGroup ? written : type, at: isGroup ? nameAt : typeAt }, holder.scope)
  keepFieldOptions(context, proto, holder.scope, entries)
  return proto
}

/** Takes a field's label, if it has the one that its syntax and its place want. */
function readLabel(
  { tokens, syntax }: ParseContext,
  { kind }: FieldHolder,
): FieldDescriptorProto_Label | undefined {
  const at = tokens.peek()
  const label = LABELS.get(at.text)
  const isMap = tokens.looksAt('map', label ? 1 : 0) && tokens.looksAt('<', label ? 2 : 1)
  if (isMap) {
    const where = kind === 'oneof' ? 'in a oneof' : kind === 'extend' ? 'in an extend block' : 'after a label'
    throw new ProtoSyntaxError(
      tokens.peek(label ? 1 : 0),
      `a map is not allowed ${where}; ${kind === 'message' ? `remove "${at.text}"` : 'move the map into a message'}`,
    )
  }
  if (label !== undefined) {
    const why = whyNoLabel(at.text, syntax, kind)
    if (why !== undefined) throw new ProtoSyntaxError(at, why)
    tokens.next()
  } else if (syntax === '' && kind !== 'oneof') {
    throw tokens.unexpected(
      'optional, required or repeated before a proto2 field (files without a syntax statement are proto2)',
    )
  }
  return label
}

function whyNoLabel(label: string, syntax: string, kind: FieldHolder['kind']): string | undefined {
  if (kind === 'oneof') return `a oneof field cannot have a label; remove "${label}"`
  if (kind === 'extend' && label === 'required')
    return 'an extension cannot be required; use "optional", or remove the label if the file uses editions'
  if (syntax === 'proto3' && label === 'required')
    return 'proto3 has no required fields; remove "required", or change the file to proto2'
  if (syntax !== 'editions' || label === 'repeated') return undefined
  return label === 'optional'
    ? 'editions have no label "optional", because fields are optional by default; remove the label'
    : 'editions have no label "required"; use the option [features.field_presence = LEGACY_REQUIRED]'
}

function refuseGroup({ tokens, syntax }: ParseContext): void {
  if (syntax === 'proto3')
    throw new ProtoSyntaxError(
      tokens.peek(),
      'proto3 does not support groups; declare a message, and use that message as the type of the field',
    )
  if (syntax === 'editions') {
    throw new ProtoSyntaxError(
      tokens.peek(),
      'editions do not support groups; declare a message, and a field of that message type with [features.message_encoding = DELIMITED]',
    )
  }
  const name = tokens.peek(1)
  if (!/^[A-Z]/.test(name.text)) {
    throw new ProtoSyntaxError(
      name,
      `the name of the group "${name.text}" must start with a capital letter, because a group also defines a message; write ${name.text.charAt(0).toUpperCase()}${name.text.slice(1)}`,
    )
  }
}

function readNumber({ tokens }: ParseContext, element: string, kind: FieldHolder['kind']): number {
  const at = tokens.peek()
  if (at.text === '-') throw tokens.unexpected("the field's number")
  const number = tokens.integer("the field's number")
  // What may be extended with which numbers is known once all files are read.
  const [what, { min, max }] =
    kind === 'extend' ? ['extensions', MESSAGE_SET_NUMBERS] : ['fields', FIELD_NUMBERS]
  if (number < min || number > max) {
    throw new ProtoSyntaxError(
      at,
      `${element} has the number ${number}; ${what} must have numbers from ${min} to ${max}`,
    )
  }
  if (number >= 19_000 && number <= 19_999) {
    throw new ProtoSyntaxError(
      at,
      `${element} has the number ${number}, which protobuf reserves (19000 to 19999); use another number`,
    )
  }
  return number
}

/** Reads `map<K, V> name = 1;` into its holder, and gives the message of its entries. */
export function parseMapField(context: ParseContext, holder: FieldHolder): DescriptorProto {
  const { tokens } = context
  const from = tokens.expect('map')
  tokens.expect('<')
  const keyAt = tokens.peek()
  const keyType = tokens.dottedName("the key's type")
  if (!KEYS.has(keyType)) {
    throw new ProtoSyntaxError(
      keyAt,
      `map<${keyType}, …> has an invalid key type; use an integer type, bool or string, or a list of messages instead of a map`,
    )
  }
  tokens.expect(',')
  const valueAt = tokens.peek()
  const valueType = tokens.dottedName("the value's type")
  tokens.expect('>')
  const nameAt = tokens.peek()
  const name = tokens.name("the field's name")
  tokens.expect('=')
  const label = FieldDescriptorProto_Label.OPTIONAL
  const key = create(FieldDescriptorProtoSchema, { name: 'key', number: 1, label, jsonName: 'key' })
  const value = create(FieldDescriptorProtoSchema, { name: 'value', number: 2, label, jsonName: 'value' })
  const entry = create(DescriptorProtoSchema, {
    name: toMapEntryName(name),
    options: { mapEntry: true },
    field: [key, value],
  })
  context.places.set(entry, { name: nameAt })
  context.places.set(value, { name: nameAt, type: valueAt })
  const numberAt = tokens.peek()
  const proto = create(FieldDescriptorProtoSchema, {
    name,
    number: readNumber(context, inScope(holder.scope, name), holder.kind),
    label: FieldDescriptorProto_Label.REPEATED,
    type: FieldDescriptorProto_Type.MESSAGE,
    typeName: `.${inScope(holder.scope, entry.name)}`,
    jsonName: protoCamelCase(name),
  })
  setType(context, key, { name: keyType, at: keyAt }, inScope(holder.scope, name))
  setType(context, value, { name: valueType, at: valueAt }, inScope(holder.scope, name))
  const path = [...holder.path, holder.fields.length]
  holder.fields.push(proto)
  const entries = readBracketedOptions(tokens)
  keepComments(context, path, from, tokens.expect(';'))
  context.places.set(proto, { name: nameAt, number: numberAt, type: from, brackets: entries })
  keepFieldOptions(context, proto, holder.scope, entries)
  return entry
}

/** Gives a field its type, once the type's name is resolved if it is no scalar. */
function setType(
  context: ParseContext,
  proto: FieldDescriptorProto,
  type: { readonly name: string; readonly at: Token },
  scope: string,
): void {
  const scalar = SCALARS.get(type.name)
  if (scalar !== undefined) {
    proto.type = scalar
    return
  }
  context.references.push({
    file: context.file,
    scope,
    element: inScope(scope, proto.name),
    name: type.name,
    at: type.at,
    wants: 'type',
    resolve(fullName, isEnum) {
      proto.typeName = `.${fullName}`
      if (isEnum) proto.type = FieldDescriptorProto_Type.ENUM
      // A group keeps the type that it was given where it stood.
      else if (proto.type !== FieldDescriptorProto_Type.GROUP) proto.type = FieldDescriptorProto_Type.MESSAGE
    },
  })
}

/** Keeps what stands in a field's brackets; `default` and `json_name` are written there, but nobody reads them as options. */
function keepFieldOptions(
  context: ParseContext,
  proto: FieldDescriptorProto,
  scope: string,
  entries: readonly WrittenOption[],
): void {
  keepOptions(context, { target: proto, kind: 'field', scope, element: inScope(scope, proto.name), entries })
  for (const entry of entries) {
    const [first] = entry.name
    const pseudo = entry.name.length === 1 && first?.isExtension === false ? first.name : undefined
    if (pseudo === 'default') proto.defaultValue = entry.string ?? toDefault(entry.value)
    else if (pseudo === 'json_name') {
      if (entry.string === undefined)
        throw new ProtoSyntaxError(entry.at, `json_name must be a string; write json_name = "${entry.value}"`)
      proto.jsonName = entry.string
    }
  }
}

/** Writes a default as descriptors do: numbers in decimal, names as they are. */
function toDefault(written: string): string {
  const text = written.replaceAll(' ', '')
  const isInteger = /^-?(?:0[xX][0-9a-fA-F]+|\d+)$/.test(text)
  if (!isInteger) return /^-?[\d.]/.test(text) ? String(Number(text.replace(/[fF]$/, ''))) : text
  const digits = text.replace('-', '')
  const value = parseInteger(digits)
  return String(text.startsWith('-') ? -value : value)
}
