import type { InvalidationEvent } from '@vinyasa/invalidation'

/** A message between workers and the first process about changes. */
export interface BusMessage {
  readonly vinyasa: 'invalidation'
  /** A worker's `renew` is answered with `granted`, its `publish` with `told`; it answers `apply` with `applied`. */
  readonly kind: 'renew' | 'granted' | 'publish' | 'told' | 'apply' | 'applied'
  readonly id: number
  readonly events: readonly InvalidationEvent[]
}

/**
 * How long a worker may answer from what it keeps, from the moment on when it asked for it (`renew`). What is sent to it
 * comes in order: by the time it is granted more, it has heard of every change before.
 */
export const IN_TOUCH_MS = 1_000

/** The other end of a channel between two processes: what is sent comes whole and in order, or not at all any more. */
export interface Peer {
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
  isConnected(): boolean
  send(message: object, callback: (error: Error | null) => void): unknown
}

/** Processes of one command line talk here: the mark is enough to know a message by. */
export function isBusMessage(message: unknown): message is BusMessage {
  return (
    typeof message === 'object' &&
    message !== null &&
    'vinyasa' in message &&
    message.vinyasa === 'invalidation'
  )
}

export function say(
  peer: Peer,
  kind: BusMessage['kind'],
  id: number,
  events: readonly InvalidationEvent[] = [],
): void {
  if (!peer.isConnected()) return
  // A process that ends just now hears nothing, and its end says so: without a callback it would be an uncaught error.
  peer.send({ vinyasa: 'invalidation', kind, id, events } satisfies BusMessage, () => {})
}
