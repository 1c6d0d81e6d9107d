import type { Readings } from '../observability/metrics/readings.ts'
import { type Peer, send } from './peer.ts'

/**
 * A message between workers and the first process about metrics. A worker takes part with its first `part`. One that is
 * scraped sends `ask`, the first process sends `collect` to each, which answers with `part`, and sends the one that asked `all`.
 */
export interface MetricsMessage {
  readonly vinyasa: 'metrics'
  readonly kind: 'ask' | 'collect' | 'part' | 'all'
  readonly id: number
  /** With `part` those of one worker, with `all` those of every one. */
  readonly readings: readonly Readings[]
}

export function sayMetrics(
  peer: Peer,
  kind: MetricsMessage['kind'],
  id: number,
  readings: readonly Readings[] = [],
): void {
  send<MetricsMessage>(peer, { vinyasa: 'metrics', kind, id, readings })
}
