import { FieldDescriptorProto_Label } from '@bufbuild/protobuf/wkt'
import protobuf from 'protobufjs'

/** How often a field stands in its message. */
export function toLabel(field: protobuf.Field): FieldDescriptorProto_Label {
  if (field.rule === 'repeated') return FieldDescriptorProto_Label.REPEATED
  if (field.rule === 'required') return FieldDescriptorProto_Label.REQUIRED
  return FieldDescriptorProto_Label.OPTIONAL
}

/** A oneof that stands for `optional` in proto3. */
export function isSynthetic(oneof: protobuf.OneOf): boolean {
  return oneof.fieldsArray.length === 1 && oneof.fieldsArray[0]?.options?.['proto3_optional'] === true
}

/** A field of proto2's deprecated kind, whose message is declared with it. */
export function isGroup(field: protobuf.Field): boolean {
  if (!(field.parent instanceof protobuf.Type)) return false
  const nested = field.parent.get(field.type)
  return nested instanceof protobuf.Type && 'group' in nested && nested.group === true
}
