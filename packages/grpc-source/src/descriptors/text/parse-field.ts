import { create } from '@bufbuild/protobuf'
import {
  DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type DescriptorProto,
  type FieldDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { toJsonName, toMapEntryName } from '../proto-names.ts'
import { inScope, keepComments, keepOptions, type ParseContext } from './context.ts'
import { readBracketedOptions, type WrittenOption } from './option-text.ts'

const SCALARS: ReadonlyMap<string, FieldDescriptorProto_Type> = new Map([
  ['double', FieldDescriptorProto_Type.DOUBLE],
  ['float', FieldDescriptorProto_Type.FLOAT],
  ['int64', FieldDescriptorProto_Type.INT64],
  ['uint64', FieldDescriptorProto_Type.UINT64],
  ['int32', FieldDescriptorProto_Type.INT32],
  ['fixed64', FieldDescriptorProto_Type.FIXED64],
  ['fixed32', FieldDescriptorProto_Type.FIXED32],
  ['bool', FieldDescriptorProto_Type.BOOL],
  ['string', FieldDescriptorProto_Type.STRING],
  ['bytes', FieldDescriptorProto_Type.BYTES],
  ['uint32', FieldDescriptorProto_Type.UINT32],
  ['sfixed32', FieldDescriptorProto_Type.SFIXED32],
  ['sfixed64', FieldDescriptorProto_Type.SFIXED64],
  ['sint32', FieldDescriptorProto_Type.SINT32],
  ['sint64', FieldDescriptorProto_Type.SINT64],
])

const LABELS: ReadonlyMap<string, FieldDescriptorProto_Label> = new Map([
  ['optional', FieldDescriptorProto_Label.OPTIONAL],
  ['required', FieldDescriptorProto_Label.REQUIRED],
  ['repeated', FieldDescriptorProto_Label.REPEATED],
])

/** The element that fields stand in: a message, or an `extend` block. */
export interface FieldHolder {
  readonly scope: string
  readonly fields: FieldDescriptorProto[]
  /** The path of the list of fields, as source code info numbers it. */
  readonly path: readonly number[]
  /** Reads the message of a group, whose `{` was taken. */
  addGroup(name: string): void
}

/** Reads one field, with the message that a group brings along, into its holder. */
export function parseField(context: ParseContext, holder: FieldHolder): FieldDescriptorProto {
  const { tokens } = context
  const from = tokens.peek()
  const label = LABELS.get(from.text)
  if (label !== undefined) tokens.next()
  const isGroup = tokens.looksAt('group') && tokens.peek(1).kind === 'name' && tokens.looksAt('=', 2)
  const type = tokens.dottedName("a field's type")
  const written = tokens.name("the field's name")
  tokens.expect('=')
  const name = isGroup ? written.toLowerCase() : written
  const proto = create(FieldDescriptorProtoSchema, {
    name,
    number: tokens.integer("the field's number"),
    label: label ?? FieldDescriptorProto_Label.OPTIONAL,
    jsonName: toJsonName(name),
    proto3Optional: context.syntax === 'proto3' && label === FieldDescriptorProto_Label.OPTIONAL,
  })
  const path = [...holder.path, holder.fields.length]
  holder.fields.push(proto)
  const entries = readBracketedOptions(tokens)
  if (isGroup) {
    proto.type = FieldDescriptorProto_Type.GROUP
    keepComments(context, path, from, tokens.expect('{'))
    holder.addGroup(written)
  } else {
    keepComments(context, path, from, tokens.expect(';'))
  }
  setType(context, proto, isGroup ? written : type, holder.scope)
  keepFieldOptions(context, proto, holder.scope, entries)
  return proto
}

/** Reads `map<K, V> name = 1;` into its holder, and gives the message of its entries. */
export function parseMapField(context: ParseContext, holder: FieldHolder): DescriptorProto {
  const { tokens } = context
  const from = tokens.expect('map')
  tokens.expect('<')
  const keyType = tokens.dottedName("the key's type")
  tokens.expect(',')
  const valueType = tokens.dottedName("the value's type")
  tokens.expect('>')
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
  const proto = create(FieldDescriptorProtoSchema, {
    name,
    number: tokens.integer("the field's number"),
    label: FieldDescriptorProto_Label.REPEATED,
    type: FieldDescriptorProto_Type.MESSAGE,
    typeName: `.${inScope(holder.scope, entry.name)}`,
    jsonName: toJsonName(name),
  })
  setType(context, key, keyType, inScope(holder.scope, name))
  setType(context, value, valueType, inScope(holder.scope, name))
  const path = [...holder.path, holder.fields.length]
  holder.fields.push(proto)
  const entries = readBracketedOptions(tokens)
  keepComments(context, path, from, tokens.expect(';'))
  keepFieldOptions(context, proto, holder.scope, entries)
  return entry
}

/** Gives a field its type, once the type's name is resolved if it is no scalar. */
function setType(context: ParseContext, proto: FieldDescriptorProto, type: string, scope: string): void {
  const scalar = SCALARS.get(type)
  if (scalar !== undefined) {
    proto.type = scalar
    return
  }
  context.references.push({
    file: context.file,
    scope,
    element: inScope(scope, proto.name),
    name: type,
    resolve(fullName, isEnum) {
      proto.typeName = `.${fullName}`
      if (isEnum) proto.type = FieldDescriptorProto_Type.ENUM
      // A group keeps the type that it was given where it stood.
      else if (proto.type !== FieldDescriptorProto_Type.GROUP) proto.type = FieldDescriptorProto_Type.MESSAGE
    },
  })
}

/** Keeps what stands in a field's brackets; `default` and `json_name` are written there, but are no options. */
function keepFieldOptions(
  context: ParseContext,
  proto: FieldDescriptorProto,
  scope: string,
  entries: readonly WrittenOption[],
): void {
  const options: WrittenOption[] = []
  for (const entry of entries) {
    const [first] = entry.name
    const pseudo = entry.name.length === 1 && first?.isExtension === false ? first.name : undefined
    if (pseudo === 'default') proto.defaultValue = entry.string ?? toDefault(entry.value)
    else if (pseudo === 'json_name' && entry.string !== undefined) proto.jsonName = entry.string
    else options.push(entry)
  }
  const element = inScope(scope, proto.name)
  keepOptions(context, { target: proto, kind: 'field', scope, element, entries: options })
}

/** Writes a default as descriptors do: numbers in decimal, names as they are. */
function toDefault(written: string): string {
  const text = written.replaceAll(' ', '')
  const isInteger = /^-?(?:0[xX][0-9a-fA-F]+|\d+)$/.test(text)
  if (!isInteger) return /^-?[\d.]/.test(text) ? String(Number(text.replace(/[fF]$/, ''))) : text
  const digits = text.replace('-', '')
  const value = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits)
  return String(text.startsWith('-') ? -value : value)
}
