import type { PlannedCall } from './compile-call.ts'
import { type Gap, type Transcoder } from '../json/message-plan.ts'

/** A reply, and the JSON that a plan makes of it; undefined where the plan falls back, for `reason`. */
export interface TranscodedReply {
  readonly bytes: Uint8Array
  readonly json: Buffer | undefined
  /** Where joined values belong in the JSON. */
  readonly gaps: readonly Gap[]
  readonly reason: string | undefined
}

export type ReplyReader = (bytes: Uint8Array) => TranscodedReply

/** Fails where ordinary decoding fails, since others may share the call; whatever else goes wrong is only a reason. */
export function replyReader(
  transcoder: Transcoder,
  call: PlannedCall,
  before: string,
  after: string,
): ReplyReader {
  const [head, tail] = [Buffer.from(before), Buffer.from(after)]
  const { codecs, output } = call.method
  return (bytes) => {
    try {
      transcoder.begin(bytes)
      transcoder.json.raw(head)
      call.write(transcoder)
      transcoder.json.raw(tail)
      return { bytes, json: transcoder.json.take(), gaps: transcoder.gaps, reason: undefined }
    } catch (error) {
      codecs.decoder(output)(bytes)
      return {
        bytes,
        json: undefined,
        gaps: [],
        reason: error instanceof Error ? error.message : String(error),
      }
    }
  }
}
