import { create, fromJson, type JsonObject, type JsonValue, type Message } from '@bufbuild/protobuf'
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
  type FileDescriptorSet,
} from '@bufbuild/protobuf/wkt'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { descriptorError } from '../../errors.ts'
import { inDependencyOrder } from '../dependency-order.ts'
import { placeOneofs, type TsProtoCodec } from './oneofs.ts'

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
    placeOneofs(file, codecs)
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
