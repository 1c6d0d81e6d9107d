import { ANYTHING } from '../anything.ts'
import { ownChannel, parseBatch, type Batch } from './batch.ts'
import { createInvalidationBus, type InvalidationBusOptions } from './bus.ts'
import {
  atLeast,
  backgroundClock,
  createSparseReports,
  type Clock,
  type KnownOptions,
  refuseWrongOptions,
  type SparseReports,
  text,
} from '@vinyasa/base'
import { Peers } from './peers.ts'
import { createReplies } from './replies.ts'
import { createReminders } from '../mutations/reminders.ts'
import type { BatchName, InvalidationBus, InvalidationListener } from '../types.ts'

/** The part of an `EventTarget` that the bus needs. That of `createRedisEventTarget` of Yoga is one. */
export interface BusEventTarget {
  addEventListener(type: string, listener: (event: Event & { readonly detail?: unknown }) => void): void
  removeEventListener(type: string, listener: (event: Event & { readonly detail?: unknown }) => void): void
  /** May return `false`, or a promise of it, where the event goes nowhere. */
  dispatchEvent(event: CustomEvent): unknown
}

export interface DistributedBusOptions extends InvalidationBusOptions {
  readonly eventTarget: BusEventTarget
  /**
   * Default `vinyasa:invalidation`. What concerns one process alone goes over a channel of its own: this name, a dot, and
   * its `origin`.
   */
  readonly channel?: string | undefined
  /** Names this gateway on the channel. Default: a random UUID. */
  readonly origin?: string | undefined
  /**
   * How often the others are told that this process is there, and how far its count is, so that a lost last batch is noticed.
   * While one of them has been silent for three times as long, without a goodbye, nothing is kept for longer than that
   * (`maxAgeMs`), for ten minutes at the default. Default 1000; 0: never.
   */
  readonly heartbeatMs?: number | undefined
  readonly clock?: Clock | undefined
  /** Called when another is missed, and when none is any more, be it that it was given up. */
  readonly onMissing?: ((isMissing: boolean) => void) | undefined
  /**
   * Called when `publish` waits no longer for all of the others, as the channel did not take a batch in time or one of them did
   * not apply it, and when it waits for all of them again.
   */
  readonly onWaiting?: ((isWaiting: boolean) => void) | undefined
  /**
   * A bus that waits for those of the others who are near, such as workers of one gateway: what is published here goes
   * over it as well, and what it announces is heard. Left when this one is closed.
   */
  readonly near?: InvalidationBus | undefined
}

export const DISTRIBUTED_OPTIONS: KnownOptions<Omit<DistributedBusOptions, 'eventTarget'>> = {
  channel: text,
  origin: text,
  heartbeatMs: atLeast(0),
  clock: true,
  onMissing: true,
  onWaiting: true,
  near: true,
  onError: true,
}

const NAMES: KnownOptions<DistributedBusOptions> = { ...DISTRIBUTED_OPTIONS, eventTarget: true }

export interface DistributedInvalidationBus extends InvalidationBus {
  /**
   * Tells the listeners of this process that anything may have changed: batches of others were lost. It is out of touch until each
   * of the others was heard again, for three heartbeats at most.
   */
  resync(): Promise<void>
  /** Tells the others that this process is there, and asks them to do so, who would else wait for a heartbeat. */
  greet(): void
  close(): void
}

/**
 * A bus between processes. `publish` waits for the listeners of this process, and for those of the others, who are told over
 * the event target, for a second at most. When a batch of another process is missing or unreadable, listeners get
 * `{ '*', '*' }`.
 */
export function createDistributedInvalidationBus(options: DistributedBusOptions): DistributedInvalidationBus {
  refuseWrongOptions('createDistributedInvalidationBus', options, NAMES)
  const { eventTarget, channel = 'vinyasa:invalidation', origin = crypto.randomUUID() } = options
  const { heartbeatMs = 1000, clock = backgroundClock } = options
  const { onError = defaultOnError, onMissing = () => {}, onWaiting = () => {} } = options
  const local = createInvalidationBus({ onError })
  const { near = local } = options
  const hearNear: InvalidationListener = (events, name) =>
    local.publish(events, name && { ...name, isOwn: name.origin === origin })
  const leaveNear = near === local ? undefined : near.subscribe(hearNear, { phase: 'forget' })
  const peers = new Peers(heartbeatMs, clock, onWaiting)
  const afterSilence = createReminders((events) => void local.publish(events), clock)
  const channels = [channel, ownChannel(channel, origin)]
  const unreadable = createSparseReports(clock)
  let n = 0
  let timer: unknown
  let closed = false

  /** Resolves with whether it is on its way, as far as the event target knows. */
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

  function sayHere(more: Partial<Batch> = {}, to = channel): void {
    void send([], { ...(peers.isMissing && { knowsOfMissing: true }), ...more }, to)
  }

  function beat(): void {
    const wasMissing = peers.isMissing
    if (peers.look()) {
      void local.publish(ANYTHING)
      // It sends no reminders of its mutations any more, which a backend can still carry out.
      afterSilence.add(ANYTHING)
    }
    if (peers.isMissing !== wasMissing) onMissing(peers.isMissing)
    sayHere()
    timer = clock.setTimeout(beat, heartbeatMs)
  }

  for (const one of channels) eventTarget.addEventListener(one, receive)
  if (heartbeatMs > 0) timer = clock.setTimeout(beat, heartbeatMs)

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
      `Unreadable messages on the invalidation channel "${channel}": ${count}. Check who publishes to it.`,
    ),
  )
}

function resync(peers: Peers, local: InvalidationBus): Promise<void> {
  peers.wasDeaf()
  return local.publish(ANYTHING)
}

/** A backend that writes to the channel itself names nothing. */
function nameOf({ origin, n }: Batch): BatchName | undefined {
  return origin === undefined ? undefined : { origin, n, isOwn: false }
}

function defaultOnError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.error('[vinyasa] invalidation bus:', error)
}
