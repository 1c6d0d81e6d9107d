import { clone, create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf'
import {
  DescriptorProtoSchema,
  Edition,
  FeatureSet_FieldPresence,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldOptionsSchema,
  FileDescriptorSetSchema,
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  type FileDescriptorSet,
} from '@bufbuild/protobuf/wkt'

const GROUP = FieldDescriptorProto_Type.GROUP

/**
 * Files of these editions as proto2 with the same bytes, for libraries that do not know them. Required fields stay required, and
 * every other single field tells unset from zero, so that a zero too many shows as well as a missing one.
 */
export function asProto2(set: FileDescriptorSet, editions: readonly Edition[]): FileDescriptorSet {
  const registry = createFileRegistry(set)
  const copy = clone(FileDescriptorSetSchema, set)
  for (const file of copy.file.filter(({ edition }) => editions.includes(edition))) {
    file.syntax = 'proto2'
    file.edition = Edition.EDITION_UNKNOWN
    delete file.options
    for (const one of file.enumType) delete one.options
    // The last first: a message holds groups of those after it.
    for (const message of file.messageType.toReversed()) {
      const desc = registry.getMessage(`${file.package}.${message.name}`)
      if (desc) restateFields(copy, file, message, desc)
    }
  }
  return copy
}

function restateFields(
  copy: FileDescriptorSet,
  file: FileDescriptorProto,
  message: DescriptorProto,
  desc: DescMessage,
): void {
  for (const field of message.field) {
    const { presence, ...resolved } = desc.fields.find(({ name }) => name === field.name)!
    delete field.options
    if (presence === FeatureSet_FieldPresence.LEGACY_REQUIRED)
      field.label = FieldDescriptorProto_Label.REQUIRED
    if (resolved.fieldKind === 'list' && resolved.packed)
      field.options = create(FieldOptionsSchema, { packed: true })
    if (!('delimitedEncoding' in resolved) || !resolved.delimitedEncoding) continue
    // Of proto2, a group's message stands beside its field, and is called like it.
    field.type = GROUP
    message.nestedType.push(groupOf(copy, file, message, field))
    field.typeName = `.${file.package}.${message.name}.${capital(field.name)}`
  }
}

function groupOf(
  copy: FileDescriptorSet,
  file: FileDescriptorProto,
  owner: DescriptorProto,
  { name, typeName }: FieldDescriptorProto,
): DescriptorProto {
  const original = copy.file.flatMap((one) =>
    one.messageType.filter((message) => typeName === `.${one.package}.${message.name}`),
  )[0]
  const group = clone(DescriptorProtoSchema, original!)
  group.name = capital(name)
  rename(group, `${typeName}.`, `.${file.package}.${owner.name}.${group.name}.`)
  return group
}

/** What stood inside the original stands inside its copy. */
function rename({ field, nestedType }: DescriptorProto, from: string, to: string): void {
  for (const one of field)
    if (one.typeName.startsWith(from)) one.typeName = to + one.typeName.slice(from.length)
  for (const one of nestedType) rename(one, from, to)
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
