import { create, fromJson, type JsonObject, type JsonValue, type Message } from '@bufbuild/protobuf'
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
  type FileDescriptorSet,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type DescriptorProto,
  type FieldDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { descriptorError } from '../../errors.ts'
import { inDependencyOrder } from '../dependency-order.ts'
import { inScope } from '../text/context.ts'

/** The part of a ts-proto message object that is used. */
interface TsProtoCodec {
  encode(value: unknown): { finish(): Uint8Array }
  decode(bytes: Uint8Array): Readonly<Record<string, unknown>>
}

/**
 * ts-proto writes `oneofIndex: 0` for fields of the first oneof and for fields of none. Its decoders tell them
 * apart: a scalar outside a oneof has a zero value, inside it has none until it is set.
 */
function placeOneofs(
  message: DescriptorProto,
  fullName: string,
  codecs: ReadonlyMap<string, TsProtoCodec | undefined>,
): void {
  for (const nested of message.nestedType) placeOneofs(nested, `${fullName}.${nested.name}`, codecs)
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

type Values = Readonly<Record<string, unknown>>

/** The `protoMetadata` of one file, as ts-proto writes it with `outputSchema=true`. */
interface TsProtoMetadata {
  readonly fileDescriptor: Values
  readonly references: Readonly<Record<string, TsProtoCodec | undefined>>
  readonly dependencies?: readonly TsProtoMetadata[]
  readonly options?: Values
}

/** Turns ts-proto's metadata, with the custom options it keeps beside the descriptors, into descriptors. */
export function readTsProtoMetadata(input: readonly unknown[]): {
  readonly set: FileDescriptorSet
  /** The files that were given, without what they import. */
  readonly named: ReadonlySet<string>
} {
  const all = new Map<string, TsProtoMetadata>()
  const add = (metadata: unknown, path: string): void => {
    if (!isMetadata(metadata))
      throw descriptorError(
        `${path} is not the protoMetadata of a generated file; generate the file with ts-proto's option "outputSchema=true", and pass the export protoMetadata of the file`,
      )
    const name = String(metadata.fileDescriptor['name'])
    if (all.has(name)) return
    all.set(name, metadata)
    for (const [index, dependency] of (metadata.dependencies ?? []).entries())
      add(dependency, `${path}.dependencies[${index}]`)
  }
  for (const [index, metadata] of input.entries()) add(metadata, `protoMetadata[${index}]`)
  const codecs = new Map([...all.values()].flatMap(({ references }) => Object.entries(references)))
  const files = [...all.values()].map((metadata) => {
    const file = fromJson(FileDescriptorProtoSchema, toProtoJson(metadata.fileDescriptor, []) as JsonObject, {
      ignoreUnknownFields: true,
    })
    for (const message of file.messageType)
      placeOneofs(message, `.${inScope(file.package, message.name)}`, codecs)
    return { file, metadata }
  })
  const extensions = extensionIndex(files.map(({ file }) => file))
  for (const { file, metadata } of files) addOptions(file, metadata.options ?? {}, extensions, codecs)
  const set = create(FileDescriptorSetSchema, { file: inDependencyOrder(files.map(({ file }) => file)) })
  return {
    set,
    named: new Set(input.filter(isMetadata).map(({ fileDescriptor }) => String(fileDescriptor['name']))),
  }
}

/**
 * ts-proto writes every field of a descriptor, unset ones as their zero value, which for options and presence
 * is not the same. What is zero is left out.
 */
function toProtoJson(value: unknown, path: readonly string[]): JsonValue | undefined {
  if (value === undefined || value === null) return undefined
  if (value instanceof Uint8Array)
    return value.length === 0 ? undefined : Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map((item) => toProtoJson(item, path) ?? {})
  if (typeof value !== 'object') {
    const isNumberedOneof = path.at(-1) === 'oneofIndex'
    return value === '' || value === false || (value === 0 && !isNumberedOneof && path.at(-1) !== 'number')
      ? undefined
      : (value as JsonValue)
  }
  const entries = Object.entries(value).flatMap(([key, item]) => {
    // A path or span is a list of numbers in which zero counts.
    const converted =
      key === 'path' || key === 'span' ? (item as JsonValue) : toProtoJson(item, [...path, key])
    return converted === undefined ? [] : [[key, converted] as const]
  })
  return Object.fromEntries(entries)
}

interface ExtensionField {
  readonly number: number
  readonly typeName: string
}

function extensionIndex(files: readonly FileDescriptorProto[]): ReadonlyMap<string, ExtensionField> {
  return new Map(
    files.flatMap(({ extension }) =>
      extension.map(
        (field) =>
          [`${field.extendee} ${field.name}`, { number: field.number, typeName: field.typeName }] as const,
      ),
    ),
  )
}

function addOptions(
  file: FileDescriptorProto,
  options: Values,
  extensions: ReadonlyMap<string, ExtensionField>,
  codecs: ReadonlyMap<string, TsProtoCodec | undefined>,
): void {
  const set = (target: { options?: Message | undefined }, kind: string, values: unknown): void => {
    for (const [name, value] of Object.entries(record(values))) {
      const extension = extensions.get(`.google.protobuf.${kind}Options ${name}`)
      const codec = extension && codecs.get(extension.typeName)
      if (!extension || !codec) continue
      const bytes = codec.encode(value).finish()
      target.options ??= { $typeName: `google.protobuf.${kind}Options` } as Message
      const data = new BinaryWriter().bytes(bytes).finish()
      target.options.$unknown = [
        ...(target.options.$unknown ?? []),
        { no: extension.number, wireType: WireType.LengthDelimited, data },
      ]
    }
  }
  const setMessage = (message: FileDescriptorProto['messageType'][number], values: Values): void => {
    set(message as never, 'Message', values['options'])
    for (const field of message.field) set(field as never, 'Field', record(values['fields'])[field.name])
    for (const oneof of message.oneofDecl) set(oneof as never, 'Oneof', record(values['oneof'])[oneof.name])
    for (const nested of message.nestedType) setMessage(nested, record(record(values['nested'])[nested.name]))
  }
  for (const message of file.messageType)
    setMessage(message, record(record(options['messages'])[message.name]))
  for (const service of file.service) {
    const values = record(record(options['services'])[service.name])
    set(service as never, 'Service', values['options'])
    for (const method of service.method)
      set(method as never, 'Method', record(values['methods'])[method.name])
  }
}

function record(value: unknown): Values {
  return typeof value === 'object' && value !== null ? (value as Values) : {}
}

function isMetadata(value: unknown): value is TsProtoMetadata {
  return (
    typeof value === 'object' &&
    value !== null &&
    'references' in value &&
    'fileDescriptor' in value &&
    typeof value.fileDescriptor === 'object'
  )
}
