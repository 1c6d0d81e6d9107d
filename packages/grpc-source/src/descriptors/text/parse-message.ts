import { create } from '@bufbuild/protobuf'
import {
  DescriptorProto_ExtensionRangeSchema,
  DescriptorProto_ReservedRangeSchema,
  DescriptorProtoSchema,
  Edition,
  OneofDescriptorProtoSchema,
  type DescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { inScope, keepComments, keepOptions, type ParseContext } from './context.ts'
import { readBlock, type WrittenOption } from './option-text.ts'
import { parseEnum } from './parse-enum.ts'
import { parseField, parseMapField, type FieldHolder } from './parse-field.ts'
import {
  FIELD_NUMBERS,
  MESSAGE_SET_NUMBERS,
  parseExtensionRanges,
  parseReserved,
  RESERVED_NUMBERS,
} from './parse-ranges.ts'
import type { TokenReader } from './token-reader.ts'
import { ProtoSyntaxError, type Token } from './tokens.ts'

/** Reads `message Name { … }`. */
export function parseMessage(context: ParseContext, scope: string, path: readonly number[]): DescriptorProto {
  const { tokens } = context
  const from = tokens.expect('message')
  const at = tokens.peek()
  const message = create(DescriptorProtoSchema, { name: tokens.name("the message's name") })
  context.places.set(message, { name: at })
  keepComments(context, path, from, tokens.expect('{'))
  parseBody(context, message, scope, path)
  return message
}

/** Reads the message of a group, whose `{` was taken, into the list that it is to stand in. */
export function parseGroup(
  context: ParseContext,
  group: {
    readonly name: string
    readonly at: Token
    readonly scope: string
    /** The path of the list. */
    readonly path: readonly number[]
    readonly into: DescriptorProto[]
  },
): void {
  const { name, at, scope, path, into } = group
  const message = create(DescriptorProtoSchema, { name })
  context.places.set(message, { name: at })
  parseBody(context, message, scope, [...path, into.push(message) - 1])
}

/** Reads `extend Name { … }`, whose fields the holder takes. */
export function parseExtend(context: ParseContext, holder: FieldHolder): void {
  const { tokens, file, references } = context
  tokens.expect('extend')
  const at = tokens.peek()
  const name = tokens.dottedName("the extended message's name")
  tokens.expect('{')
  if (tokens.looksAt('}')) throw tokens.unexpected('a field')
  while (!tokens.skip('}')) {
    if (tokens.skip(';')) continue
    const field = parseField(context, { ...holder, kind: 'extend' })
    const element = inScope(holder.scope, field.name)
    const resolve = (fullName: string): void => void (field.extendee = `.${fullName}`)
    references.push({ file, scope: holder.scope, element, name, at, wants: 'message', resolve })
  }
}

/** Edition 2024 writes `export` or `local` before a declaration; neither changes the schema. */
export function skipVisibility({ tokens, edition }: ParseContext): void {
  if (edition < Edition.EDITION_2024 || tokens.peek(2).kind !== 'name') return
  const isMarked = tokens.looksAt('export') || tokens.looksAt('local')
  if (isMarked && (tokens.looksAt('message', 1) || tokens.looksAt('enum', 1))) tokens.next()
}

function parseBody(
  context: ParseContext,
  message: DescriptorProto,
  outer: string,
  path: readonly number[],
): void {
  const { tokens } = context
  const scope = inScope(outer, message.name)
  const maps: DescriptorProto[] = []
  const holder: FieldHolder = {
    kind: 'message',
    scope,
    fields: message.field,
    path: [...path, 2],
    addGroup: (name, at) =>
      parseGroup(context, { name, at, scope, path: [...path, 3], into: message.nestedType }),
  }
  const entries = readBlock(tokens, (before) => {
    skipVisibility(context)
    if (tokens.looksAt('message')) {
      message.nestedType.push(parseMessage(context, scope, [...path, 3, message.nestedType.length]))
    } else if (tokens.looksAt('enum')) {
      message.enumType.push(parseEnum(context, scope, [...path, 4, message.enumType.length]))
    } else if (tokens.looksAt('extend')) {
      parseExtend(context, { ...holder, fields: message.extension, path: [...path, 6] })
    } else if (tokens.looksAt('oneof')) {
      parseOneof(context, message, holder)
    } else if (tokens.looksAt('reserved') && tokens.peek(1).kind !== 'symbol') {
      parseReserved(context, scope, {
        names: message.reservedName,
        limits: RESERVED_NUMBERS,
        add({ start, end }, at) {
          const reserved = create(DescriptorProto_ReservedRangeSchema, { start, end: end + 1 })
          context.places.set(reserved, { name: at })
          message.reservedRange.push(reserved)
        },
      })
    } else if (tokens.looksAt('extensions')) {
      parseExtensions(context, message, scope, before.some(makesMessageSet) || isMessageSetBelow(tokens))
    } else if (tokens.looksAt('map') && tokens.looksAt('<', 1)) {
      maps.push(parseMapField(context, holder))
    } else {
      parseField(context, holder)
    }
  })
  message.nestedType.push(...maps)
  addSyntheticOneofs(message)
  keepOptions(context, { target: message, kind: 'message', scope: outer, element: scope, entries })
}

function parseExtensions(
  context: ParseContext,
  message: DescriptorProto,
  scope: string,
  isMessageSet: boolean,
): void {
  const at = context.tokens.peek(1)
  parseExtensionRanges(context, scope, {
    limits: isMessageSet ? MESSAGE_SET_NUMBERS : FIELD_NUMBERS,
    add({ start, end }, place) {
      const range = create(DescriptorProto_ExtensionRangeSchema, { start, end: end + 1 })
      context.places.set(range, { name: place })
      message.extensionRange.push(range)
    },
  })
  if (context.syntax === 'proto3') {
    throw new ProtoSyntaxError(
      at,
      `${scope} declares extensions, which proto3 does not support; use a field of the type google.protobuf.Any instead, or change the file to proto2`,
    )
  }
}

function makesMessageSet({ name, value }: WrittenOption): boolean {
  return name.length === 1 && name[0]?.name === 'message_set_wire_format' && value === 'true'
}

/** Whether the rest of a message's body says that it is a MessageSet. */
function isMessageSetBelow(tokens: TokenReader): boolean {
  for (let ahead = 0, depth = 0; depth >= 0 && tokens.peek(ahead).kind !== 'end'; ahead += 1) {
    if (tokens.looksAt('{', ahead)) depth += 1
    else if (tokens.looksAt('}', ahead)) depth -= 1
    else if (depth === 0 && tokens.looksAt('message_set_wire_format', ahead))
      return tokens.looksAt('option', ahead - 1) && tokens.looksAt('true', ahead + 2)
  }
  return false
}

function parseOneof(context: ParseContext, message: DescriptorProto, holder: FieldHolder): void {
  const { tokens } = context
  tokens.expect('oneof')
  const at = tokens.peek()
  const oneof = create(OneofDescriptorProtoSchema, { name: tokens.name("the oneof's name") })
  context.places.set(oneof, { name: at })
  tokens.expect('{')
  const oneofIndex = message.oneofDecl.length
  message.oneofDecl.push(oneof)
  const fieldsBefore = message.field.length
  const entries = readBlock(tokens, () => {
    parseField(context, { ...holder, kind: 'oneof' }).oneofIndex = oneofIndex
  })
  const element = `${holder.scope}.${oneof.name}`
  if (message.field.length === fieldsBefore)
    throw new ProtoSyntaxError(at, `the oneof ${element} has no fields; add a field, or remove the oneof`)
  keepOptions(context, { target: oneof, kind: 'oneof', scope: holder.scope, element, entries })
}

/** Adds what `optional` means in proto3: a oneof of one field, behind those that are written. */
function addSyntheticOneofs(message: DescriptorProto): void {
  for (const field of message.field) {
    if (!field.proto3Optional) continue
    let name = `_${field.name}`
    while (message.oneofDecl.some((oneof) => oneof.name === name)) name = `X${name}`
    field.oneofIndex = message.oneofDecl.length
    message.oneofDecl.push(create(OneofDescriptorProtoSchema, { name }))
  }
}
