import { type JsonText, SLICE_BYTES } from '@vinyasa/base'
import { TooManyItemsError } from '../codec/wire-reader.ts'
import { reasonOf } from '../errors.ts'
import type { PlannedCall } from './compile-call.ts'
import { toLiteral } from '../json/literal.ts'
import type { Gap } from '../json/message-plan.ts'
import type { PlannableField } from '../json/planned-field.ts'
import { transcodeInSlices } from './transcode-in-slices.ts'
import type { ReadReply } from '../methods/invoker.ts'

/** Bytes of a reply up to which it is read at once. */
const LONG_REPLY = 2 * SLICE_BYTES

/** A reply, and the JSON that a plan makes of it; undefined where the plan falls back, for `reason`. */
export interface TranscodedReply {
  readonly bytes: Uint8Array
  /** Bytes where it has gaps. */
  readonly json: JsonText | undefined
  /** The places in the JSON where joined values belong. */
  readonly gaps: readonly Gap[]
  /** How many objects are in the JSON, without those in the gaps. */
  readonly objects: number
  readonly reason: string | undefined
}

export type ReplyReader = ReadReply<TranscodedReply>

/**
 * Fails where ordinary decoding fails, since others may share the call; whatever else goes wrong is only a reason. A long
 * reply is read in several turns of the event loop.
 */
export function replyReader(
  { transcoder, turns, codecs, output }: PlannableField,
  call: PlannedCall,
  before: string,
  after: string,
): ReplyReader {
  const [head, tail] = [toLiteral(before), toLiteral(after)]

  function write(): void {
    transcoder.json.literal(head)
    call.write(transcoder)
    transcoder.json.literal(tail)
  }

  function failed(bytes: Uint8Array, error: unknown): TranscodedReply {
    // Ordinary decoding counts what is not selected too: it would make objects of as many items, and fail as well.
    if (error instanceof TooManyItemsError) throw error
    codecs.decoder(output)(bytes)
    return { bytes, json: undefined, gaps: [], objects: 0, reason: reasonOf(error) }
  }

  return (bytes) => {
    if (bytes.length > LONG_REPLY)
      return transcodeInSlices(transcoder, bytes, write, turns).then(
        (written) => ({ bytes, ...written, reason: undefined }),
        (error: unknown) => failed(bytes, error),
      )
    try {
      transcoder.begin(bytes)
      write()
      const { gaps, objects } = transcoder
      const json = gaps.length === 0 ? transcoder.json.takeText() : transcoder.json.take()
      return { bytes, json, gaps, objects, reason: undefined }
    } catch (error) {
      return failed(bytes, error)
    }
  }
}
