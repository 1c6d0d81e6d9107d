import { isFieldSet } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import { resolveInScope } from './proto-names.ts'
import { typesOf, type TypeKinds } from './type-names.ts'

/**
 * Makes descriptors of any origin what a compiler hands to its plugins. Embedded ones and C++ reflection leave out
 * `json_name`; `type` may be left out where `type_name` is set, and names may be relative.
 * @see google/protobuf/descriptor.proto, FieldDescriptorProto
 */
export function normalizeDescriptors(files: readonly FileDescriptorProto[]): void {
  let types: TypeKinds | undefined

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
      const fullName = scope === '' ? message.name : `${scope}.${message.name}`
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
