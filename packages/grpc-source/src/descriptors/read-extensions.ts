import type { DescExtension } from '@bufbuild/protobuf'

/**
 * The custom options that a source reads, by number, whatever file declares them: `graphql.*` (1079, 1080),
 * `google.api.field_behavior` (1052), `google.api.http` (72295728) and `buf.validate` (1159).
 */
const READ: Readonly<Record<string, readonly number[]>> = {
  'google.protobuf.ServiceOptions': [1079],
  'google.protobuf.MessageOptions': [1079],
  'google.protobuf.MethodOptions': [1079, 1080, 72_295_728],
  'google.protobuf.FieldOptions': [1079, 1052, 1159],
  'google.protobuf.OneofOptions': [1159],
}

export function isReadExtension({ extendee, number }: DescExtension): boolean {
  return READ[extendee.typeName]?.includes(number) === true
}
