import { ownChannel, parseBatch, type Batch } from './batch.ts'
import { createInvalidationBus, type InvalidationBusOptions } from './bus.ts'
import {
  backgroundClock,
  createSparseReports,
  type Clock,
  type KnownOptions,
  refuseWrongOptions,
  type SparseReports,
  text,
} from '@vinyasa/core'
import { Peers } from './peers.ts'
import { createReminders } from '../mutations/reminders.ts'
import { ANYTHING, type BatchName, type InvalidationBus, type InvalidationListener } from '../types.ts'

/** Minimum time in milliseconds between two replies on a channel, so that replies are combined. */
const APART_MS = 5

/**
 * Creates the sender of replies to other processes. The first reply is sent immediately, and replies that follow
 * shortly after it are combined.
 */
function createReplies(
  send: (channel: string, applied: Readonly<Record<string, number>> | undefined) => void,
  clock: Clock,
) {
  /** The counts to send on each channel, by sender. */
  const owed = new Map<string, Map<string, number>>()
  let timer: unknown

  function flush(): void {
    timer = undefined
    if (owed.size === 0) return
    const replies = [...owed]
    owed.clear()
    timer = clock.setTimeout(flush, APART_MS)
    for (const [channel, applied] of replies)
      send(channel, applied.size === 0 ? undefined : Object.fromEntries(applied))
  }

  return {
    /** Adds a reply on a channel to a greeting, or to an applied batch of a sender. */
    add(channel: string, origin?: string, n?: number): void {
      const applied = owed.get(channel) ?? new Map<string, number>()
      owed.set(channel, applied)
      if (origin !== undefined && n !== undefined) applied.set(origin, Math.max(n, applied.get(origin) ?? 0))
      if (timer === undefined) flush()
    },
    close: (): void => clock.clearTimeout(timer),
  }
}

/**
 * Part of the `EventTarget` interface that the bus needs. The result of Yoga's `createRedisEventTarget` implements
 * it.
 */
export interface BusEventTarget {
  addEventListener(type: string, listener: (event: Event & { readonly detail?: unknown }) => void): void
  removeEventListener(type: string, listener: (event: Event & { readonly detail?: unknown }) => void): void
  /**
   * Sends an event to the other processes. It can return `false`, or a promise of `false`, if it could not send the
   * event.
   */
  dispatchEvent(event: CustomEvent): unknown
}

/**
 * State of a bus. It has three independent parts:
 * - `connected`, `disconnected`: whether the broker is reachable and accepts the login and the channel. A bus over an
 *   event target does not report this part.
 * - `incomplete`, `complete`: whether another process is missing. It is missing after three seconds without a heartbeat
 *   and without a shutdown message, and forgotten after ten minutes.
 * - `unconfirmed`, `confirmed`: whether `publish` has stopped waiting for all processes, because the channel did not
 *   accept a batch in time, or a process did not apply a batch in time.
 */
export type BusState = 'connected' | 'disconnected' | 'incomplete' | 'complete' | 'unconfirmed' | 'confirmed'

export interface DistributedBusOptions extends InvalidationBusOptions {
  readonly eventTarget: BusEventTarget
  /**
   * Name of the channel. Default `vinyasa:invalidation`. Messages for one process use a channel whose name begins with
   * `<channel>.`.
   */
  readonly channel?: string | undefined
  /** Receives each change of the bus's state once. `error` is the reason of a disconnect. See {@link BusState}. */
  readonly onState?: ((state: BusState, error?: unknown) => void) | undefined
  /**
   * Bus between nearby processes, such as the workers of one gateway. Events are published on it too, and its events
   * reach the listeners of this bus. `close` unsubscribes from it.
   */
  readonly near?: InvalidationBus | undefined
}

export const DISTRIBUTED_OPTIONS: KnownOptions<Omit<DistributedBusOptions, 'eventTarget'>> = {
  channel: text,
  onState: true,
  near: true,
  onError: true,
}

const NAMES: KnownOptions<DistributedBusOptions> = { ...DISTRIBUTED_OPTIONS, eventTarget: true }

export interface DistributedInvalidationBus extends InvalidationBus {
  /**
   * Publishes `{ entityType: '*', operation: '*' }` to the listeners of this process after batches were lost.
   * `isInTouch` is `false` until every known process has sent a message, for at most three heartbeats.
   */
  resync(): Promise<void>
  /** Announces this process to the other processes and asks them to reply before their next heartbeat. */
  greet(): void
  close(): void
}

/**
 * Creates an invalidation bus that connects processes over an event target. `publish` waits for the listeners of this
 * process. It also waits for the listeners of the other processes, for at most one second. If a batch of another
 * process is missing or unreadable, listeners receive `{ entityType: '*', operation: '*' }`.
 */
export function createDistributedInvalidationBus(options: DistributedBusOptions): DistributedInvalidationBus {
  refuseWrongOptions('createDistributedInvalidationBus', options, NAMES)
  return openBus(options)
}

/** Values that tests replace. */
export interface BusInternals {
  /** Identifies this process on the channel. */
  readonly origin?: string | undefined
  /** Milliseconds between two heartbeats, which carry the number of published batches. */
  readonly heartbeatMs?: number | undefined
  readonly clock?: Clock | undefined
}

export function openBus(
  options: DistributedBusOptions,
  { origin = crypto.randomUUID(), heartbeatMs = 1000, clock = backgroundClock }: BusInternals = {},
): DistributedInvalidationBus {
  const { eventTarget, channel = 'vinyasa:invalidation', onError = defaultOnError } = options
  const local = createInvalidationBus({ onError })
  const { near = local, onState = () => {} } = options
  const hearNear: InvalidationListener = (events, name) =>
    local.publish(events, name && { ...name, isOwn: name.origin === origin })
  const leaveNear = near === local ? undefined : near.subscribe(hearNear, { phase: 'forget' })
  const peers = new Peers(heartbeatMs, clock, onState)
  const afterSilence = createReminders((events) => void local.publish(events), clock)
  const channels = [channel, ownChannel(channel, origin)]
  const unreadable = createSparseReports(clock)
  let n = 0
  let timer: unknown
  let closed = false

  /** Resolves with whether the message was sent, according to the event target. */
  async function send(events: Batch['events'], more: Partial<Batch> = {}, to = channel): Promise<boolean> {
    if (closed) return false
    const detail: Batch = { origin, n, events, ...more }
    try {
      return (await eventTarget.dispatchEvent(new CustomEvent(to, { detail }))) !== false
    } catch (error) {
      onError(error)
      return false
    }
  }

  function receive({ detail }: { readonly detail?: unknown }): void {
    const batch = parseBatch(detail)
    if (batch?.origin === origin) return
    if (!batch) reportUnreadable(channel, unreadable, onError)
    const missed = !batch || peers.hear(batch)
    const applied = batch?.applied
    if (batch?.origin !== undefined && applied && Object.hasOwn(applied, origin))
      peers.hasApplied(batch.origin, applied[origin] as number)
    if (batch?.isGreeting) replies.add(channel)
    void (missed ? apply(ANYTHING, batch) : apply(batch.events, batch, nameOf(batch)))
  }

  async function apply(events: Batch['events'], batch: Batch | undefined, name?: BatchName): Promise<void> {
    await local.publish(events, name)
    if (batch?.origin === undefined || batch.events.length === 0) return
    replies.add(batch.listensApart ? ownChannel(channel, batch.origin) : channel, batch.origin, batch.n)
  }

  const replies = createReplies((to, applied) => sayHere(applied && { applied }, to), clock)

  const sayHere = (more: Partial<Batch> = {}, to = channel): unknown =>
    send([], { ...(peers.isMissing && { knowsOfMissing: true }), ...more }, to)

  function beat(): void {
    const wasMissing = peers.isMissing
    if (peers.look()) {
      void local.publish(ANYTHING)
      // The silent process repeats no events of its mutations, which a backend can still execute.
      afterSilence.add(ANYTHING)
    }
    if (peers.isMissing !== wasMissing) onState(peers.isMissing ? 'incomplete' : 'complete')
    sayHere()
    timer = clock.setTimeout(beat, heartbeatMs)
  }

  for (const one of channels) eventTarget.addEventListener(one, receive)
  timer = clock.setTimeout(beat, heartbeatMs)

  return {
    async publish(events) {
      if (events.length === 0) return
      n += 1
      await Promise.all([
        peers.haveApplied(n, send(events, { listensApart: true })),
        near.publish(events, { origin, n, isOwn: true }),
      ])
    },
    get isInTouch() {
      return near.isInTouch !== false && !peers.isOneAwaited
    },
    get maxAgeMs() {
      return peers.maxAgeMs
    },
    subscribe: local.subscribe,
    resync: () => resync(peers, local),
    greet: () => sayHere({ isGreeting: true }),
    close() {
      if (closed) return
      void send([], { isGoodbye: true })
      closed = true
      clock.clearTimeout(timer)
      replies.close()
      peers.close()
      afterSilence.close()
      leaveNear?.()
      for (const one of channels) eventTarget.removeEventListener(one, receive)
    },
  }
}

function reportUnreadable(channel: string, messages: SparseReports, onError: (error: unknown) => void): void {
  const count = messages.count()
  if (count === 0) return
  onError(
    new Error(
      `Received unreadable messages (${count}) on the invalidation channel "${channel}". Check which programs publish to this channel.`,
    ),
  )
}

function resync(peers: Peers, local: InvalidationBus): Promise<void> {
  peers.wasDeaf()
  return local.publish(ANYTHING)
}

/** Returns `undefined` for messages of backends that write to the channel directly. */
function nameOf({ origin, n }: Batch): BatchName | undefined {
  return origin === undefined ? undefined : { origin, n, isOwn: false }
}

function defaultOnError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.error('[vinyasa] invalidation bus:', error)
}
