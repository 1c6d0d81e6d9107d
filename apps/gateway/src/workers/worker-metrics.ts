import { backgroundClock, type Clock } from '@vinyasa/base'
import type { Readings, ShareMetrics } from '../observability/readings-of-workers.ts'
import { Answers } from './answers.ts'
import { MetricsOutOfReachError } from './errors.ts'
import { isMetricsMessage, sayMetrics } from './metrics-messages.ts'
import type { Peer } from './peer.ts'

/** The first process waits for other workers, not as long as this. */
const ALL_MS = 3_000

/** In a worker: its metrics are those of the gateway that serves. */
export function createWorkerMetrics(first: Peer, clock: Clock = backgroundClock): ShareMetrics {
  let own: (() => Promise<Readings>) | undefined
  const answers = new Answers(clock)
  let all: readonly Readings[] = []

  first.on('message', (message) => {
    if (!isMetricsMessage(message)) return
    const { kind, id, readings } = message
    if (kind === 'collect') void answer(id)
    if (kind === 'all') {
      all = readings
      answers.answer(id)
    }
  })

  /** A worker that has no gateway yet has counted nothing. */
  async function answer(id: number): Promise<void> {
    sayMetrics(first, 'part', id, own ? [await own()] : [])
  }

  async function askAll(): Promise<readonly Readings[]> {
    if (!(await answers.wait((id) => sayMetrics(first, 'ask', id), ALL_MS)))
      throw new MetricsOutOfReachError(ALL_MS)
    return all
  }

  return (read) => {
    own ??= read
    return { serve: () => void (own = read), all: askAll }
  }
}
