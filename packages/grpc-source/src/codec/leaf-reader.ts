import type { ScalarType } from '@bufbuild/protobuf'
import type { LeafKind, Shapes, ValueKind } from '../contract/shapes.ts'
import type { WellKnownType } from '../contract/well-known.ts'
import type { ScalarCodec } from './scalar-codecs.ts'
import type { WellKnownCodec } from './well-known-codecs.ts'
import { WireReader } from './wire-reader.ts'

export interface Codecs {
  readonly shapes: Shapes
  readonly scalars: (scalar: ScalarType) => ScalarCodec
  readonly wellKnown: (type: WellKnownType) => WellKnownCodec
  /** Told of an enum number that the protos do not name; the value reads as null. */
  readonly onUnknownEnum: (enumName: string, number: number) => void
}

/** Reads one value, behind its tag. */
export function leafReader(value: LeafKind, codecs: Codecs): (reader: WireReader) => unknown {
  const { shapes, scalars, wellKnown, onUnknownEnum } = codecs
  if (value.kind === 'scalar') return scalars(value.scalar).read
  if (value.kind === 'wellKnown') {
    const { type, group } = value
    const codec = wellKnown(type)
    return (reader) => reader.inside(group === 0 ? reader.bytes() : reader.group(group), codec.decode)
  }
  const { nameOf, desc } = shapes.enum(value.enum)
  const declared = new Set(desc.values.map(({ number }) => number))
  return (reader) => {
    const number = reader.int32()
    const name = nameOf.get(number)
    if (name !== undefined) return name
    if (!declared.has(number)) onUnknownEnum(desc.typeName, number)
    return null
  }
}

/** The value where none is written, and none is not told apart from it. */
export function leafZero(value: LeafKind, { shapes, scalars, wellKnown }: Codecs): unknown {
  if (value.kind === 'scalar') return scalars(value.scalar).zero
  if (value.kind === 'enum') return shapes.enum(value.enum).nameOf.get(0) ?? null
  return wellKnown(value.type).decode(new WireReader(new Uint8Array()))
}

/** The wire type of one value, outside a packed list. */
export function wireTypeOf(value: ValueKind, scalars: Codecs['scalars']): number {
  if (value.kind === 'scalar') return scalars(value.scalar).wireType
  if (value.kind === 'enum') return 0
  const isGroup = value.kind === 'message' ? value.delimited : value.group !== 0
  return isGroup ? 3 : 2
}
