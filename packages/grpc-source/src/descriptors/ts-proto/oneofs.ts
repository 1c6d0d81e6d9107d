import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** The part of a ts-proto message object that is used. */
export interface TsProtoCodec {
  encode(value: unknown): { finish(): Uint8Array }
  decode(bytes: Uint8Array): Readonly<Record<string, unknown>>
}

/**
 * ts-proto writes `oneofIndex: 0` for fields of the first oneof and for fields of none. Its decoders tell them
 * apart: a scalar outside a oneof has a zero value, inside it has none until it is set.
 */
export function placeOneofs(
  file: FileDescriptorProto,
  codecs: ReadonlyMap<string, TsProtoCodec | undefined>,
): void {
  const scope = file.package === '' ? '' : `.${file.package}`
  for (const message of file.messageType) placeInMessage(message, `${scope}.${message.name}`, codecs)
}

function placeInMessage(
  message: DescriptorProto,
  fullName: string,
  codecs: ReadonlyMap<string, TsProtoCodec | undefined>,
): void {
  for (const nested of message.nestedType) placeInMessage(nested, `${fullName}.${nested.name}`, codecs)
  const isFirstSynthetic = message.field.some(
    ({ proto3Optional, oneofIndex }) => proto3Optional && oneofIndex === 0,
  )
  const hasRealFirst = message.oneofDecl.length > 0 && !isFirstSynthetic
  const codec = codecs.get(fullName)
  const candidates = message.field.filter(
    ({ oneofIndex, proto3Optional }) => oneofIndex === 0 && !proto3Optional,
  )
  const verdicts = candidates.map((field) => (hasRealFirst ? isMember(field, message, codec) : false))
  for (const [index, field] of candidates.entries()) {
    // Members of a oneof stand together; what cannot be told goes with its neighbours on both sides.
    const verdict =
      verdicts[index] ?? (nearest(verdicts, index, -1) === true && nearest(verdicts, index, 1) !== false)
    if (!verdict) delete (field as { oneofIndex?: number }).oneofIndex
  }
}

function isMember(
  field: FieldDescriptorProto,
  message: DescriptorProto,
  codec: TsProtoCodec | undefined,
): boolean | undefined {
  if (field.label === FieldDescriptorProto_Label.REPEATED) return false
  if (!codec) return undefined
  const empty = codec.decode(new Uint8Array())
  const oneofName = camel(message.oneofDecl[0]?.name ?? '')
  if (oneofName in empty) {
    // Generated with oneof=unions: the decoded value says where the field went.
    const writer = new BinaryWriter()
    writeZero(writer, field)
    return codec.decode(writer.finish())[oneofName] !== undefined
  }
  if (field.type === FieldDescriptorProto_Type.MESSAGE) return undefined
  return empty[camel(field.name)] === undefined && empty[field.name] === undefined
}

function writeZero(writer: BinaryWriter, field: FieldDescriptorProto): void {
  const { DOUBLE, FIXED64, SFIXED64, FLOAT, FIXED32, SFIXED32, MESSAGE, STRING, BYTES } =
    FieldDescriptorProto_Type
  const { type, number } = field
  if (type === DOUBLE || type === FIXED64 || type === SFIXED64) writer.tag(number, WireType.Bit64).fixed64(0n)
  else if (type === FLOAT || type === FIXED32 || type === SFIXED32)
    writer.tag(number, WireType.Bit32).fixed32(0)
  else if (type === MESSAGE || type === STRING || type === BYTES)
    writer.tag(number, WireType.LengthDelimited).bytes(new Uint8Array())
  else writer.tag(number, WireType.Varint).uint32(0)
}

function nearest(
  verdicts: readonly (boolean | undefined)[],
  from: number,
  step: number,
): boolean | undefined {
  for (let index = from + step; index >= 0 && index < verdicts.length; index += step) {
    if (verdicts[index] !== undefined) return verdicts[index]
  }
  return undefined
}

function camel(name: string): string {
  return name.replace(/(?<!_)_+([a-zA-Z0-9])/g, (_, char: string) => char.toUpperCase())
}
