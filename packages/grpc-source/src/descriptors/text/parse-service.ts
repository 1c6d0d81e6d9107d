import { create } from '@bufbuild/protobuf'
import {
  MethodDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
  type MethodDescriptorProto,
  type ServiceDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { inScope, keepComments, keepOptions, type ParseContext } from './context.ts'
import { readBlock } from './option-text.ts'
import { SCALARS } from './parse-field.ts'
import { ProtoSyntaxError } from './tokens.ts'

/** Reads `service Name { … }`. */
export function parseService(
  context: ParseContext,
  packageName: string,
  path: readonly number[],
): ServiceDescriptorProto {
  const { tokens } = context
  const from = tokens.expect('service')
  const at = tokens.peek()
  const proto = create(ServiceDescriptorProtoSchema, { name: tokens.name("the service's name") })
  context.places.set(proto, { name: at })
  const fullName = inScope(packageName, proto.name)
  keepComments(context, path, from, tokens.expect('{'))
  const entries = readBlock(tokens, () => {
    if (!tokens.looksAt('rpc')) throw tokens.unexpected('"rpc", "option" or "}"')
    proto.method.push(parseMethod(context, fullName, [...path, 2, proto.method.length]))
  })
  keepOptions(context, { target: proto, kind: 'service', scope: packageName, element: fullName, entries })
  return proto
}

function parseMethod(
  context: ParseContext,
  serviceName: string,
  path: readonly number[],
): MethodDescriptorProto {
  const { tokens, file, references } = context
  const from = tokens.expect('rpc')
  const at = tokens.peek()
  const proto = create(MethodDescriptorProtoSchema, { name: tokens.name("the method's name") })
  context.places.set(proto, { name: at })
  const element = `${serviceName}.${proto.name}`
  const side = (apply: (fullName: string) => void): boolean => {
    tokens.expect('(')
    const isStream = tokens.skip('stream')
    const typeAt = tokens.peek()
    const name = tokens.dottedName("a message's name")
    if (SCALARS.has(name)) {
      throw new ProtoSyntaxError(
        typeAt,
        `${element} uses ${name} as its request or response type, which must be a message; define a message with a ${name} field, and use that message`,
      )
    }
    references.push({ file, scope: serviceName, element, name, at: typeAt, wants: 'message', resolve: apply })
    tokens.expect(')')
    return isStream
  }
  proto.clientStreaming = side((name) => (proto.inputType = `.${name}`))
  tokens.expect('returns')
  proto.serverStreaming = side((name) => (proto.outputType = `.${name}`))
  const head = tokens.peek()
  const hasBlock = !tokens.skip(';') && tokens.expect('{')
  const entries = hasBlock ? readBlock(tokens, () => void tokens.expect('option')) : []
  keepComments(context, path, from, head)
  keepOptions(context, { target: proto, kind: 'method', scope: serviceName, element, entries })
  return proto
}
