import { create } from '@bufbuild/protobuf'
import {
  EnumDescriptorProtoSchema,
  EnumValueDescriptorProtoSchema,
  type EnumDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { inScope, keepComments, keepOptions, type ParseContext } from './context.ts'
import { readBracketedOptions, readOption, type WrittenOption } from './option-text.ts'

/** Reads `enum Name { … }`. */
export function parseEnum(
  context: ParseContext,
  scope: string,
  path: readonly number[],
): EnumDescriptorProto {
  const { tokens } = context
  const from = tokens.expect('enum')
  const proto = create(EnumDescriptorProtoSchema, { name: tokens.name("the enum's name") })
  const fullName = inScope(scope, proto.name)
  keepComments(context, path, from, tokens.expect('{'))
  const entries: WrittenOption[] = []
  while (!tokens.skip('}')) {
    if (tokens.skip(';')) continue
    if (tokens.skip('option')) {
      entries.push(readOption(tokens))
      tokens.expect(';')
    } else if (tokens.looksAt('reserved')) {
      skipStatement(context)
    } else {
      parseValue(context, proto, fullName, path, scope)
    }
  }
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
  const value = create(EnumValueDescriptorProtoSchema, { name, number: tokens.integer("the value's number") })
  const entries = readBracketedOptions(tokens)
  keepComments(context, [...path, 2, proto.value.length], from, tokens.expect(';'))
  proto.value.push(value)
  keepOptions(context, { target: value, kind: 'enumValue', scope, element: `${enumName}.${name}`, entries })
}

/** Passes over what says nothing about the schema, such as `reserved 1 to max;`. */
export function skipStatement({ tokens }: ParseContext): void {
  while (!tokens.looksAt(';')) {
    if (tokens.peek().kind === 'end') throw tokens.unexpected('";"')
    tokens.next()
  }
  tokens.next()
}
