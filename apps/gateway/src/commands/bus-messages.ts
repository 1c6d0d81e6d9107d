import type { InvalidationEvent } from '@vinyasa/invalidation'

/** What workers and the first process say of changes. */
export interface BusMessage {
  readonly vinyasa: 'invalidation'
  /** `join`: a worker listens; `publish` is answered with `told`, `apply` with `applied`. */
  readonly kind: 'join' | 'publish' | 'told' | 'apply' | 'applied'
  readonly id: number
  readonly events: readonly InvalidationEvent[]
}

/** The other end of a channel between two processes. */
export interface Peer {
  on(event: 'message', listener: (message: unknown) => void): unknown
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
