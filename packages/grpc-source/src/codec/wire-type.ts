import type { ScalarType } from '@bufbuild/protobuf'
import type { ValueKind } from '../contract/shapes.ts'
import type { ScalarCodec } from './scalar-codecs.ts'

/** The wire type of one value, outside a packed list. */
export function wireTypeOf(value: ValueKind, scalars: (scalar: ScalarType) => ScalarCodec): number {
  if (value.kind === 'scalar') return scalars(value.scalar).wireType
  if (value.kind === 'enum') return 0
  const isGroup = value.kind === 'message' ? value.delimited : value.group !== 0
  return isGroup ? 3 : 2
}
