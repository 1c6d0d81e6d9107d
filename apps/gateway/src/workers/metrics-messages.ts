import type { Readings } from '../observability/readings-of-workers.ts'
import type { Peer } from './bus-messages.ts'

/**
 * A message between workers and the first process about metrics. A worker that is scraped sends `ask`, the first process sends
 * `collect` to each worker, which answers with `part`, and sends the worker that asked `all`.
 */
export interface MetricsMessage {
  readonly vinyasa: 'metrics'
  readonly kind: 'ask' | 'collect' | 'part' | 'all'
  readonly id: number
  /** With `part` those of one worker, with `all` those of each. */
  readonly readings: readonly Readings[]
}

export function isMetricsMessage(message: unknown): message is MetricsMessage {
  return (
    typeof message === 'object' && message !== null && 'vinyasa' in message && message.vinyasa === 'metrics'
  )
}

export function sayMetrics(
  peer: Peer,
  kind: MetricsMessage['kind'],
  id: number,
  readings: readonly Readings[] = [],
): void {
  if (!peer.isConnected()) return
  // The end of a process says that it hears nothing: without a callback that would be an uncaught error.
  peer.send({ vinyasa: 'metrics', kind, id, readings } satisfies MetricsMessage, () => {})
}
