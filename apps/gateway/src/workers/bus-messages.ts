import type { BatchName, InvalidationEvent } from '@vinyasa/invalidation'
import { type Peer, send } from './peer.ts'

/** A message between workers and the first process about changes. */
export interface BusMessage {
  readonly vinyasa: 'invalidation'
  /** A worker's `renew` is answered with `granted`, its `publish` with `told`; it answers `apply` with `applied`. */
  readonly kind: 'renew' | 'granted' | 'publish' | 'told' | 'apply' | 'applied'
  readonly id: number
  readonly events: readonly InvalidationEvent[]
  readonly name?: BatchName | undefined
}

/**
 * How long a worker may answer from what it keeps, from the moment on when it asked for it (`renew`). What is sent to it
 * comes in order: by the time it is granted more, it has heard of every change before.
 */
export const IN_TOUCH_MS = 1_000

export function say(
  peer: Peer,
  kind: BusMessage['kind'],
  id: number,
  events: readonly InvalidationEvent[] = [],
  name?: BatchName,
): void {
  send<BusMessage>(peer, { vinyasa: 'invalidation', kind, id, events, name })
}
