import type { DescMessage, ScalarType } from '@bufbuild/protobuf'
import type { MessageDecoder } from '../codec/decode.ts'
import type { ScalarCodec } from '../codec/scalar-codecs.ts'
import type { WellKnownCodec } from '../codec/well-known-codecs.ts'
import type { Shapes } from '../contract/shapes.ts'
import type { WellKnownType } from '../contract/well-known.ts'

export interface Codecs {
  readonly shapes: Shapes
  readonly scalars: (scalar: ScalarType) => ScalarCodec
  readonly wellKnown: (type: WellKnownType) => WellKnownCodec
}

export interface LeafOptions extends Codecs {
  /** Ordinary decoding of whole messages. */
  readonly decoder: (desc: DescMessage) => MessageDecoder
  readonly onUnknownEnum: (enumName: string, number: number) => void
}
