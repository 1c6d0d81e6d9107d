import { create } from '@bufbuild/protobuf'
import {
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  EnumValueDescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  MethodDescriptorProtoSchema,
  OneofDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
  SourceCodeInfo_LocationSchema,
  SourceCodeInfoSchema,
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  type ServiceDescriptorProto,
  type SourceCodeInfo_Location,
} from '@bufbuild/protobuf/wkt'
import protobuf from 'protobufjs'
import { isGroup, isSynthetic, toLabel } from './proto-field.ts'
import { toJsonName, toMapEntryName } from './proto-names.ts'

/** Options as written, to be interpreted once every extension is known. */
export interface UninterpretedOptions {
  readonly target: { options?: unknown }
  readonly kind: 'file' | 'message' | 'field' | 'oneof' | 'enum' | 'enumValue' | 'service' | 'method'
  readonly scope: string
  readonly element: string
  readonly entries: readonly Readonly<Record<string, unknown>>[]
}

export interface ParsedProto {
  readonly file: FileDescriptorProto
  readonly options: readonly UninterpretedOptions[]
}

/** A type reference that waits until all files are parsed. */
export interface TypeReference {
  readonly file: string
  readonly scope: string
  readonly element: string
  readonly name: string
  resolve(fullName: string, isEnum: boolean): void
}

const SCALARS: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  double: FieldDescriptorProto_Type.DOUBLE,
  float: FieldDescriptorProto_Type.FLOAT,
  int64: FieldDescriptorProto_Type.INT64,
  uint64: FieldDescriptorProto_Type.UINT64,
  int32: FieldDescriptorProto_Type.INT32,
  fixed64: FieldDescriptorProto_Type.FIXED64,
  fixed32: FieldDescriptorProto_Type.FIXED32,
  bool: FieldDescriptorProto_Type.BOOL,
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
  uint32: FieldDescriptorProto_Type.UINT32,
  sfixed32: FieldDescriptorProto_Type.SFIXED32,
  sfixed64: FieldDescriptorProto_Type.SFIXED64,
  sint32: FieldDescriptorProto_Type.SINT32,
  sint64: FieldDescriptorProto_Type.SINT64,
}

type Options = Readonly<Record<string, unknown>>

/**
 * Turns one parsed `.proto` file into the descriptor that a protobuf compiler would give.
 * @param root protobufjs' tree of this file alone
 */
export function toFileDescriptor(
  fileName: string,
  parsed: protobuf.IParserResult,
  syntax: string,
  references: TypeReference[],
): ParsedProto {
  const uninterpreted: UninterpretedOptions[] = []
  const locations: SourceCodeInfo_Location[] = []
  const packageName = parsed.package ?? ''
  const file = create(FileDescriptorProtoSchema, {
    name: fileName,
    package: packageName,
    dependency: [...(parsed.imports ?? []), ...(parsed.weakImports ?? [])],
    syntax,
  })

  function note(path: readonly number[], comment: unknown): void {
    if (typeof comment !== 'string' || comment === '') return
    locations.push(
      create(SourceCodeInfo_LocationSchema, { path: [...path], span: [0, 0, 0], leadingComments: comment }),
    )
  }

  function keepOptions(
    target: { options?: unknown },
    kind: UninterpretedOptions['kind'],
    scope: string,
    element: string,
    source: protobuf.ReflectionObject,
  ): void {
    const entries = (source.parsedOptions ?? []) as Options[]
    if (entries.length > 0) uninterpreted.push({ target, kind, scope, element, entries })
  }

  function refer(scope: string, element: string, name: string, resolve: TypeReference['resolve']): void {
    references.push({ file: fileName, scope, element, name, resolve })
  }

  function toField(field: protobuf.Field, scope: string, path: readonly number[]): FieldDescriptorProto {
    // protobufjs names extensions by their full name.
    const name = field.name.slice(field.name.lastIndexOf('.') + 1)
    const proto = create(FieldDescriptorProtoSchema, {
      name,
      number: field.id,
      label: toLabel(field),
      jsonName: String(field.options?.['json_name'] ?? toJsonName(name)),
      proto3Optional: field.options?.['proto3_optional'] === true,
    })
    const element = scope === '' ? name : `${scope}.${name}`
    const defaultValue: unknown = field.options?.['default']
    if (defaultValue !== undefined) proto.defaultValue = String(defaultValue)
    if (field.extend !== undefined) {
      refer(scope, element, field.extend, (fullName) => (proto.extendee = `.${fullName}`))
    }
    setType(proto, field.type, scope, element, isGroup(field))
    note(path, field.comment)
    keepOptions(proto, 'field', scope, element, field)
    return proto
  }

  function setType(
    proto: FieldDescriptorProto,
    type: string,
    scope: string,
    element: string,
    delimited: boolean,
  ): void {
    const scalar = SCALARS[type]
    if (scalar !== undefined) {
      proto.type = scalar
      return
    }
    refer(scope, element, type, (fullName, isEnum) => {
      proto.typeName = `.${fullName}`
      if (isEnum) proto.type = FieldDescriptorProto_Type.ENUM
      else proto.type = delimited ? FieldDescriptorProto_Type.GROUP : FieldDescriptorProto_Type.MESSAGE
    })
  }

  function toMapField(
    field: protobuf.MapField,
    scope: string,
    path: readonly number[],
    entries: DescriptorProto[],
  ): FieldDescriptorProto {
    const entry = create(DescriptorProtoSchema, {
      name: toMapEntryName(field.name),
      options: { mapEntry: true },
      field: [
        { name: 'key', number: 1, label: FieldDescriptorProto_Label.OPTIONAL, jsonName: 'key' },
        { name: 'value', number: 2, label: FieldDescriptorProto_Label.OPTIONAL, jsonName: 'value' },
      ],
    })
    const [key, value] = entry.field as [FieldDescriptorProto, FieldDescriptorProto]
    setType(key, field.keyType, scope, `${scope}.${field.name}`, false)
    setType(value, field.type, scope, `${scope}.${field.name}`, false)
    entries.push(entry)
    const proto = create(FieldDescriptorProtoSchema, {
      name: field.name,
      number: field.id,
      label: FieldDescriptorProto_Label.REPEATED,
      type: FieldDescriptorProto_Type.MESSAGE,
      typeName: `.${scope}.${entry.name}`,
      jsonName: String(field.options?.['json_name'] ?? toJsonName(field.name)),
    })
    note(path, field.comment)
    keepOptions(proto, 'field', scope, `${scope}.${field.name}`, field)
    return proto
  }

  function toMessage(type: protobuf.Type, scope: string, path: readonly number[]): DescriptorProto {
    const fullName = scope === '' ? type.name : `${scope}.${type.name}`
    const message = create(DescriptorProtoSchema, { name: type.name })
    const oneofs = [...type.oneofsArray].sort((a, b) => Number(isSynthetic(a)) - Number(isSynthetic(b)))
    for (const [index, oneof] of oneofs.entries()) {
      const proto = create(OneofDescriptorProtoSchema, { name: oneof.name })
      note([...path, 8, index], oneof.comment)
      keepOptions(proto, 'oneof', fullName, `${fullName}.${oneof.name}`, oneof)
      message.oneofDecl.push(proto)
    }
    const entries: DescriptorProto[] = []
    for (const [index, field] of type.fieldsArray.entries()) {
      const fieldPath = [...path, 2, index]
      const proto =
        field instanceof protobuf.MapField
          ? toMapField(field, fullName, fieldPath, entries)
          : toField(field, fullName, fieldPath)
      if (field.partOf) proto.oneofIndex = oneofs.indexOf(field.partOf)
      message.field.push(proto)
    }
    for (const nested of type.nestedArray) {
      if (nested instanceof protobuf.Type) {
        message.nestedType.push(toMessage(nested, fullName, [...path, 3, message.nestedType.length]))
      } else if (nested instanceof protobuf.Enum) {
        message.enumType.push(toEnum(nested, fullName, [...path, 4, message.enumType.length]))
      } else if (nested instanceof protobuf.Field) {
        message.extension.push(toField(nested, fullName, [...path, 6, message.extension.length]))
      }
    }
    message.nestedType.push(...entries)
    for (const [start, end] of (type.extensions ?? []) as readonly number[][]) {
      if (start !== undefined && end !== undefined) {
        message.extensionRange.push({
          $typeName: 'google.protobuf.DescriptorProto.ExtensionRange',
          start,
          end: end + 1,
        })
      }
    }
    note(path, type.comment)
    keepOptions(message, 'message', scope, fullName, type)
    return message
  }

  function toEnum(type: protobuf.Enum, scope: string, path: readonly number[]): EnumDescriptorProto {
    const fullName = scope === '' ? type.name : `${scope}.${type.name}`
    const proto = create(EnumDescriptorProtoSchema, { name: type.name })
    for (const [index, [name, number]] of Object.entries(type.values).entries()) {
      const value = create(EnumValueDescriptorProtoSchema, { name, number })
      proto.value.push(value)
      note([...path, 2, index], type.comments[name])
      const options = type.valuesOptions?.[name]
      if (options) {
        const entries = Object.entries(options).map(([key, option]) => ({ [key]: option as unknown }))
        uninterpreted.push({
          target: value,
          kind: 'enumValue',
          scope,
          element: `${fullName}.${name}`,
          entries,
        })
      }
    }
    note(path, type.comment)
    keepOptions(proto, 'enum', scope, fullName, type)
    return proto
  }

  function toService(service: protobuf.Service, path: readonly number[]): ServiceDescriptorProto {
    const fullName = packageName === '' ? service.name : `${packageName}.${service.name}`
    const proto = create(ServiceDescriptorProtoSchema, { name: service.name })
    for (const [index, method] of service.methodsArray.entries()) {
      const methodProto = create(MethodDescriptorProtoSchema, {
        name: method.name,
        clientStreaming: method.requestStream === true,
        serverStreaming: method.responseStream === true,
      })
      const element = `${fullName}.${method.name}`
      refer(fullName, element, method.requestType, (name) => (methodProto.inputType = `.${name}`))
      refer(fullName, element, method.responseType, (name) => (methodProto.outputType = `.${name}`))
      note([...path, 2, index], method.comment)
      keepOptions(methodProto, 'method', fullName, element, method)
      proto.method.push(methodProto)
    }
    note(path, service.comment)
    keepOptions(proto, 'service', packageName, fullName, service)
    return proto
  }

  const namespace = packageName === '' ? parsed.root : parsed.root.lookup(packageName)
  for (const object of namespace instanceof protobuf.Namespace ? namespace.nestedArray : []) {
    if (object instanceof protobuf.Type) {
      file.messageType.push(toMessage(object, packageName, [4, file.messageType.length]))
    } else if (object instanceof protobuf.Enum) {
      file.enumType.push(toEnum(object, packageName, [5, file.enumType.length]))
    } else if (object instanceof protobuf.Service) {
      file.service.push(toService(object, [6, file.service.length]))
    } else if (object instanceof protobuf.Field) {
      file.extension.push(toField(object, packageName, [7, file.extension.length]))
    }
  }
  for (const holder of new Set([parsed.root, namespace])) {
    if (holder) keepOptions(file, 'file', packageName, fileName, holder)
  }
  file.sourceCodeInfo = create(SourceCodeInfoSchema, { location: locations })
  return { file, options: uninterpreted }
}
