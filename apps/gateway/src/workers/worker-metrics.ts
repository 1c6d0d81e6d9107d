import { backgroundClock, type Clock } from '@vinyasa/core'
import type { Readings } from '../observability/metrics/readings.ts'
import { createServedReadings, type ShareMetrics } from '../observability/metrics/shared-metrics.ts'
import { Answers } from './answers.ts'
import { MetricsOutOfReachError } from './errors.ts'
import { type MetricsMessage, sayMetrics } from './metrics-relay.ts'
import { listen, type Peer } from './peer.ts'

/** The first process waits for other workers, not as long as this. */
const ALL_MS = 3_000

export interface WorkerMetricsOptions {
  readonly onError: (error: unknown) => void
  readonly clock?: Clock | undefined
}

/** In a worker: a scrape is answered for all workers. It rejects with MetricsOutOfReachError where the first process is silent. */
export function createWorkerMetrics(
  first: Peer,
  { onError, clock = backgroundClock }: WorkerMetricsOptions,
): ShareMetrics {
  const served = createServedReadings(onError)
  const answers = new Answers(clock)
  let last: readonly Readings[] = []

  listen<MetricsMessage>(first, 'metrics', ({ kind, id, readings }) => {
    if (kind === 'collect') void served.all().then((own) => sayMetrics(first, 'part', id, own), onError)
    if (kind === 'all') {
      last = readings
      answers.answer(id)
    }
  })

  sayMetrics(first, 'part', 0)

  async function all(): Promise<readonly Readings[]> {
    if (!(await answers.wait((id) => sayMetrics(first, 'ask', id), ALL_MS)))
      throw new MetricsOutOfReachError(ALL_MS)
    return last
  }

  return (read) => ({ ...served.add(read), all })
}
