import type { DescMessage } from '@bufbuild/protobuf'
import type { MessageDecoder } from '../codec/decode.ts'
import type { Codecs } from '../codec/leaf-reader.ts'

export interface LeafOptions extends Codecs {
  /** Ordinary decoding of whole messages. */
  readonly decoder: (desc: DescMessage) => MessageDecoder
}
