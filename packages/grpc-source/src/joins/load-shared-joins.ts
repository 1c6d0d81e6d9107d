import { mergeRecorded, type Recorded, type Site, type StartedJoin } from '@vinyasa/source-kit'
import type { Value } from './fill-gaps.ts'
import { type SharedGap, type SharedPlace } from '../json/message-plan.ts'

/** The fields of one execution that other kinds of sources join. */
export interface SharedJoinRun {
  load(gaps: readonly SharedGap[]): Promise<void>
  /** What was loaded. */
  valueOf(gap: SharedGap): Value
  recorded(): Recorded
}

interface Load {
  readonly started: StartedJoin
  /** By key; undefined where it is not there yet. */
  readonly values: Map<string | null, Value | undefined>
}

export function createSharedJoinRun(site: Site): SharedJoinRun {
  const loads = new Map<SharedPlace, Load>()
  let isOver = false

  function loadOf(place: SharedPlace): Load {
    let known = loads.get(place)
    if (!known) loads.set(place, (known = { started: place.shared.start(site), values: new Map() }))
    return known
  }

  async function ask({ started, values }: Load, keys: readonly (string | null)[]): Promise<void> {
    const texts = await started.load(keys)
    for (const [index, key] of keys.entries()) {
      const text = texts[index] as string | Buffer
      const json = typeof text === 'string' ? Buffer.from(text) : text
      values.set(key, { json, bytes: json.length, objects: started.objectsOf?.(key) ?? 1 })
    }
  }

  return {
    async load(gaps) {
      if (isOver) return
      const asked = new Map<Load, (string | null)[]>()
      for (const { place, key } of gaps) {
        const load = loadOf(place)
        if (load.values.has(key)) continue
        load.values.set(key, undefined)
        const keys = asked.get(load)
        if (keys) keys.push(key)
        else asked.set(load, [key])
      }
      await Promise.all([...asked].map(([load, keys]) => ask(load, keys)))
    },
    valueOf: ({ place, key }) => loads.get(place)?.values.get(key) as Value,
    recorded() {
      isOver = true
      return mergeRecorded([...loads.values()].map(({ started }) => started.recorded()))
    },
  }
}
