import { mergeRecorded, type Recorded, type Site, type StartedJoin } from '@vinyasa/source-kit'
import { afterPromises } from './after-promises.ts'
import { type SharedGap, type SharedPlace } from '../json/message-plan.ts'

/** The fields of one execution that other kinds of sources join. */
export interface SharedJoinRun {
  load(gaps: readonly SharedGap[]): Promise<void>
  /** What was loaded. */
  valueOf(gap: SharedGap): Buffer
  recorded(): Recorded
}

interface Load {
  readonly started: StartedJoin
  readonly values: Map<string | null, Buffer>
  /** Keys to ask for, until that is done. */
  next: { readonly keys: Set<string | null>; readonly done: Promise<void> } | undefined
}

export function createSharedJoinRun(site: Site): SharedJoinRun {
  const loads = new Map<SharedPlace, Load>()
  let isOver = false

  function loadOf(place: SharedPlace): Load {
    let known = loads.get(place)
    if (!known) {
      known = { started: place.shared.start(site), values: new Map(), next: undefined }
      loads.set(place, known)
    }
    return known
  }

  async function send(load: Load, keys: ReadonlySet<string | null>): Promise<void> {
    await afterPromises()
    load.next = undefined
    if (isOver) return
    const asked = [...keys]
    const texts = await load.started.load(asked)
    for (const [index, key] of asked.entries()) {
      const text = texts[index] as string | Buffer
      load.values.set(key, typeof text === 'string' ? Buffer.from(text) : text)
    }
  }

  /** All who ask at the same time ask at once. */
  function batchOf(load: Load): NonNullable<Load['next']> {
    if (!load.next) {
      const keys = new Set<string | null>()
      load.next = { keys, done: send(load, keys) }
    }
    return load.next
  }

  return {
    async load(gaps) {
      const batches = new Set<Promise<void>>()
      for (const { place, key } of gaps) {
        const { keys, done } = batchOf(loadOf(place))
        keys.add(key)
        batches.add(done)
      }
      await Promise.all(batches)
    },
    valueOf: ({ place, key }) => loads.get(place)?.values.get(key) as Buffer,
    recorded() {
      isOver = true
      return mergeRecorded([...loads.values()].map(({ started }) => started.recorded()))
    },
  }
}
