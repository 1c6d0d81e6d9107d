import { backgroundClock, type Clock } from '@vinyasa/base'
import type { Readings, ShareMetrics } from '../observability/readings-of-workers.ts'
import type { Peer } from './bus-messages.ts'
import { MetricsOutOfReachError } from './errors.ts'
import { isMetricsMessage, sayMetrics } from './metrics-messages.ts'

/** The first process waits for other workers, not as long as this. */
const ALL_MS = 3_000

/** In a worker: its metrics are those of the gateway that serves. */
export function createWorkerMetrics(first: Peer, clock: Clock = backgroundClock): ShareMetrics {
  let own: (() => Promise<Readings>) | undefined
  const waiting = new Map<number, (all: readonly Readings[]) => void>()
  let lastId = 0

  first.on('message', (message) => {
    if (!isMetricsMessage(message)) return
    const { kind, id, readings } = message
    if (kind === 'collect') void answer(id)
    if (kind === 'all') waiting.get(id)?.(readings)
  })

  /** A worker that has no gateway yet has counted nothing. */
  async function answer(id: number): Promise<void> {
    sayMetrics(first, 'part', id, own ? [await own()] : [])
  }

  async function askAll(): Promise<readonly Readings[]> {
    const id = ++lastId
    let timer: unknown
    try {
      return await new Promise((resolve, reject) => {
        waiting.set(id, resolve)
        timer = clock.setTimeout(() => reject(new MetricsOutOfReachError(ALL_MS)), ALL_MS)
        sayMetrics(first, 'ask', id)
      })
    } finally {
      clock.clearTimeout(timer)
      waiting.delete(id)
    }
  }

  return (read) => {
    own ??= read
    return { serve: () => void (own = read), all: askAll }
  }
}
