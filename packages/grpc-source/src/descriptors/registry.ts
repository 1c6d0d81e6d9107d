import { create, createFileRegistry, type FileRegistry, isFieldSet } from '@bufbuild/protobuf'
import {
  FileDescriptorSetSchema,
  type FileDescriptorSet,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { descriptorError, reasonOf } from '../errors.ts'
import { wellKnownFile } from './shipped/bundled.ts'
import { inDependencyOrder } from './dependency-order.ts'
import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import { resolveInScope } from './proto-names.ts'
import { isType, symbolsOf, type ProtoSymbol } from './rules/symbols.ts'
import { inScope } from './text/context.ts'

/** Every type that files define, by its full name. */
function typesOf(files: readonly FileDescriptorProto[]): ReadonlyMap<string, ProtoSymbol['kind']> {
  const symbols = files.flatMap((file) => [...symbolsOf(file)])
  return new Map(symbols.filter(isType).map(({ name, kind }) => [name, kind]))
}

/**
 * Makes descriptors of any origin what a compiler hands to its plugins. Embedded ones and C++ reflection leave out
 * `json_name`; `type` may be left out where `type_name` is set, and names may be relative.
 * @see google/protobuf/descriptor.proto, FieldDescriptorProto
 */
function normalizeDescriptors(files: readonly FileDescriptorProto[]): void {
  let types: ReturnType<typeof typesOf> | undefined

  function complete(field: FieldDescriptorProto, scope: string): void {
    if (field.jsonName === '') field.jsonName = protoCamelCase(field.name)
    if (field.typeName === '') return
    const hasType = isFieldSet(field, FieldDescriptorProtoSchema.field.type)
    if (hasType && field.typeName.startsWith('.')) return
    types ??= typesOf(files)
    const known = types
    const fullName = resolveInScope(field.typeName, scope, (name) => (known.has(name) ? name : undefined))
    if (fullName === undefined) return
    field.typeName = `.${fullName}`
    if (hasType) return
    field.type =
      known.get(fullName) === 'enum' ? FieldDescriptorProto_Type.ENUM : FieldDescriptorProto_Type.MESSAGE
  }

  function visit(messages: readonly DescriptorProto[], scope: string): void {
    for (const message of messages) {
      const fullName = inScope(scope, message.name)
      for (const field of message.field) complete(field, fullName)
      for (const field of message.extension) complete(field, fullName)
      visit(message.nestedType, fullName)
    }
  }

  for (const file of files) {
    visit(file.messageType, file.package)
    for (const field of file.extension) complete(field, file.package)
  }
}

/** The one model that every descriptor input ends in. */
export function createDescriptorRegistry(set: FileDescriptorSet): FileRegistry {
  const known = new Set(set.file.map(({ name }) => name))
  const files = [...set.file]
  for (const file of files) {
    for (const dependency of file.dependency) {
      if (known.has(dependency)) continue
      const standard = wellKnownFile(dependency)
      if (!standard)
        throw descriptorError(
          `${file.name} imports "${dependency}", which the descriptors do not contain; generate the descriptors with imports (protoc --include_imports; buf includes imports by default)`,
        )
      known.add(dependency)
      files.push(standard.proto)
    }
  }
  normalizeDescriptors(files)
  try {
    return createFileRegistry(create(FileDescriptorSetSchema, { file: inDependencyOrder(files) }))
  } catch (cause) {
    throw descriptorError(
      `the descriptors are invalid: ${reasonOf(cause)}; compile the .proto files with protoc or buf, and fix the errors that the compiler reports`,
      cause,
    )
  }
}
