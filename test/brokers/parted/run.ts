import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '@vinyasa/test-kit'
import type { Fleet } from './fleet.ts'
import type { State } from './states.ts'

/** What a gateway may serve at most that is older than a mutation's answer of another, where its answer could not wait. */
export const BOUND_MS = 3_000

/** When of an episode a state begins, and when the networks carry again. */
interface Times {
  readonly beginMs: number
  readonly healMs: number
  readonly endMs: number
}

export const SHORT: Times = { beginMs: 500, healMs: 6_500, endMs: 8_500 }
export const LONG: Times = { beginMs: 1_000, healMs: 14_000, endMs: 17_000 }

/** What was seen of a state. Milliseconds since a mutation's answer at which a read began that did not show it; 0: none. */
export interface Seen {
  readonly rounds: number
  readonly reads: number
  readonly hits: number
  readonly old: number
  /** Of those, after an answer that waited for nobody, as the gateway had logged. */
  readonly unawaited: number
  /** While the state lasted. */
  readonly worstMs: number
  /** Since it was over. */
  readonly worstBackMs: number
}

/** One mutation each, at times that are spread over the episode, and reads through the other gateway to its end. */
export async function runEpisode(fleet: Fleet, state: State, rounds: number, times: Times): Promise<Seen> {
  await inTouch(fleet)
  const beganAt = performance.now()
  const passed = (): number => performance.now() - beganAt
  /** When the mutations were answered that a read did not show. */
  const oldAfter: number[] = []
  const found = { rounds, reads: 0, hits: 0, old: 0, worstMs: 0, worstBackMs: 0 }

  async function round(id: number): Promise<void> {
    await sleep(((times.endMs - 1_000) * id) / rounds)
    // The second one may be a hit.
    await fleet.read(id)
    await fleet.read(id)
    const value = await fleet.write(id)
    const answeredAtTime = Date.now()
    const answeredAt = passed()
    while (passed() < times.endMs) {
      const began = passed()
      const read = await fleet.read(id)
      found.reads++
      if (read.isHit) found.hits++
      if (read.value < value) {
        found.old++
        oldAfter.push(answeredAtTime)
        const age = began - answeredAt
        if (began < times.healMs) found.worstMs = Math.max(found.worstMs, age)
        else found.worstBackMs = Math.max(found.worstBackMs, age)
      }
      await sleep(began - answeredAt < 500 ? 20 : 250)
    }
  }

  const faults = async (): Promise<void> => {
    await sleep(times.beginMs)
    state.begin(fleet.networks)
    await sleep(times.healMs - passed())
    heal(fleet)
  }
  try {
    await Promise.all([faults(), ...Array.from({ length: rounds }, (_, id) => round(id))])
  } finally {
    heal(fleet)
  }
  return { ...found, unawaited: oldAfter.filter((at) => !fleet.wasAwaited(at)).length }
}

function heal({ networks }: Fleet): void {
  for (const network of [networks.writer, networks.reader]) {
    network.delay(0)
    network.heal()
  }
}

/** Both answer from their caches, which they do not while they are parted; and each has heard the other lately. */
async function inTouch(fleet: Fleet): Promise<void> {
  const answersFromCache = (whom: 'reader' | 'writer') => async (): Promise<boolean> =>
    (await fleet.read(-1, whom)).isHit
  await sleep(1_500)
  await waitUntil(answersFromCache('writer'), { awaited: 'the writer’s cache' })
  await waitUntil(answersFromCache('reader'), { awaited: 'the reader’s cache' })
}
