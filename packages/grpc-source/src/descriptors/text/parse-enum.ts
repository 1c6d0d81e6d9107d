import { create } from '@bufbuild/protobuf'
import {
  EnumDescriptorProto_EnumReservedRangeSchema,
  EnumDescriptorProtoSchema,
  EnumValueDescriptorProtoSchema,
  type EnumDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { inScope, keepComments, keepOptions, type ParseContext } from './context.ts'
import { readBlock, readBracketedOptions } from './option-text.ts'
import { parseReserved } from './parse-ranges.ts'
import { ProtoSyntaxError } from './tokens.ts'

/** The numbers that values of enums may have. */
const VALUES = { min: -(2 ** 31), max: 2 ** 31 - 1 }

/** Reads `enum Name { … }`. */
export function parseEnum(
  context: ParseContext,
  scope: string,
  path: readonly number[],
): EnumDescriptorProto {
  const { tokens } = context
  const from = tokens.expect('enum')
  const at = tokens.peek()
  const proto = create(EnumDescriptorProtoSchema, { name: tokens.name("the enum's name") })
  context.places.set(proto, { name: at })
  const fullName = inScope(scope, proto.name)
  keepComments(context, path, from, tokens.expect('{'))
  const entries = readBlock(tokens, () => {
    if (!tokens.looksAt('reserved')) return parseValue(context, proto, fullName, path, scope)
    parseReserved(context, fullName, {
      names: proto.reservedName,
      limits: VALUES,
      add(range, place) {
        const reserved = create(EnumDescriptorProto_EnumReservedRangeSchema, range)
        context.places.set(reserved, { name: place })
        proto.reservedRange.push(reserved)
      },
    })
  })
  if (proto.value.length === 0)
    throw new ProtoSyntaxError(at, `the enum ${fullName} has no values; add a value, or remove the enum`)
  keepOptions(context, { target: proto, kind: 'enum', scope, element: fullName, entries })
  return proto
}

function parseValue(
  context: ParseContext,
  proto: EnumDescriptorProto,
  enumName: string,
  path: readonly number[],
  scope: string,
): void {
  const { tokens } = context
  const from = tokens.peek()
  const name = tokens.name("a value's name")
  tokens.expect('=')
  const at = tokens.peek()
  const value = create(EnumValueDescriptorProtoSchema, { name, number: tokens.integer("the value's number") })
  if (value.number < VALUES.min || value.number > VALUES.max) {
    throw new ProtoSyntaxError(
      at,
      `${enumName}.${name} has the number ${value.number}; enum values must have numbers from ${VALUES.min} to ${VALUES.max}`,
    )
  }
  context.places.set(value, { name: from, number: at })
  const entries = readBracketedOptions(tokens)
  keepComments(context, [...path, 2, proto.value.length], from, tokens.expect(';'))
  proto.value.push(value)
  keepOptions(context, { target: value, kind: 'enumValue', scope, element: `${enumName}.${name}`, entries })
}
