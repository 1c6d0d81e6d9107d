import { type JsonText, SLICE_BYTES, type Turns } from '@vinyasa/core'
import { TooManyItemsError } from '../codec/wire-reader.ts'
import { reasonOf } from '../errors.ts'
import type { PlannedCall } from './compile-call.ts'
import { toLiteral } from '../json/json-writer.ts'
import type { Gap, LongList, Transcoder } from '../json/transcoder.ts'
import type { PlannableField } from '../json/planned-field.ts'
import type { ReadReply } from '../methods/invoker.ts'

interface Written {
  readonly json: Buffer
  readonly gaps: readonly Gap[]
  readonly objects: number
}

/**
 * Returns a reply as JSON. `write` writes all of it but long lists; these are written a slice a turn and put
 * in their places. Others use the transcoder in between.
 */
async function transcodeInSlices(
  transcoder: Transcoder,
  bytes: Uint8Array,
  write: () => void,
  turns: Turns,
): Promise<Written> {
  await turns.next()
  transcoder.begin(bytes, SLICE_BYTES)
  const { reader } = transcoder
  write()
  return withLists(take())

  function take(): Written & { readonly lists: readonly LongList[] } {
    const { gaps, lists, objects } = transcoder
    return { json: transcoder.json.take(), gaps, lists, objects }
  }

  async function withLists({ json, gaps, lists, objects }: ReturnType<typeof take>): Promise<Written> {
    if (lists.length === 0) return { json, gaps, objects }
    const pieces: Buffer[] = []
    const allGaps: Gap[] = []
    let length = 0
    let allObjects = objects
    const add = (piece: Omit<Written, 'objects'>, shift: number): void => {
      for (const gap of piece.gaps) allGaps.push({ ...gap, at: gap.at + shift })
      pieces.push(piece.json)
      length += piece.json.length
    }
    let [from, gap] = [0, 0]
    const addUntil = (at: number): void => {
      const first = gap
      while (gap < gaps.length && (gaps[gap] as Gap).at <= at) gap++
      add({ json: json.subarray(from, at), gaps: gaps.slice(first, gap) }, length - from)
      from = at
    }
    for (const list of lists) {
      addUntil(list.at)
      for (let at = list.from; at < list.end;) {
        await turns.next()
        reader.pos = at
        transcoder.someItems(reader, list, SLICE_BYTES)
        at = reader.pos
        const written = await withLists(take())
        add(written, length)
        allObjects += written.objects
      }
    }
    addUntil(json.length)
    return { json: Buffer.concat(pieces, length), gaps: allGaps, objects: allObjects }
  }
}

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
