import { SLICE_BYTES, type Turns } from '@vinyasa/base'
import type { Gap, LongList, Transcoder } from '../json/message-plan.ts'

interface Written {
  readonly json: Buffer
  readonly gaps: readonly Gap[]
  readonly objects: number
}

/**
 * Returns a reply as JSON. `write` writes all of it but long lists; these are written a slice a turn and put
 * in their places. Others use the transcoder in between.
 */
export async function transcodeInSlices(
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
