import { ANYTHING } from '../anything.ts'
import { parseBatch, type Batch } from './batch.ts'
import { createInvalidationBus, type InvalidationBusOptions } from './bus.ts'
import { backgroundClock, type Clock } from '@vinyasa/base'
import { GapDetector } from './gap-detector.ts'
import { createReminders } from '../mutations/reminders.ts'
import type { InvalidationBus, InvalidationEvent } from '../types.ts'

/** The part of an `EventTarget` that the bus needs. That of `createRedisEventTarget` of Yoga is one. */
export interface BusEventTarget {
  addEventListener(type: string, listener: (event: Event & { readonly detail?: unknown }) => void): void
  removeEventListener(type: string, listener: (event: Event & { readonly detail?: unknown }) => void): void
  dispatchEvent(event: CustomEvent): unknown
}

export interface DistributedBusOptions extends InvalidationBusOptions {
  readonly eventTarget: BusEventTarget
  /** Default `vinyasa:invalidation`. */
  readonly channel?: string | undefined
  /** Names this gateway on the channel. Default: a random UUID. */
  readonly origin?: string | undefined
  /** How often the others are told how far the count is, so that a lost last batch is noticed. Default 1000; 0: never. */
  readonly heartbeatMs?: number | undefined
  readonly clock?: Clock | undefined
  /**
   * A bus that waits for those of the others who are near, such as workers of one gateway: what is published here goes
   * over it as well, and what it announces is heard. Left when this one is closed.
   */
  readonly near?: InvalidationBus | undefined
}

export interface DistributedInvalidationBus extends InvalidationBus {
  /** Tells the listeners of this process that anything may have changed: batches of others were lost. */
  resync(): Promise<void>
  close(): void
}

/**
 * A bus between processes. Listeners of this process are served at once and awaited; the others are told over the
 * event target. When a batch of another process is missing or unreadable, listeners get `{ '*', '*' }`.
 */
export function createDistributedInvalidationBus(options: DistributedBusOptions): DistributedInvalidationBus {
  const {
    eventTarget,
    channel = 'vinyasa:invalidation',
    origin = crypto.randomUUID(),
    heartbeatMs = 1000,
  } = options
  const { onError = defaultOnError, clock = backgroundClock } = options
  const local = createInvalidationBus({ onError })
  const { near = local } = options
  const leaveNear = near === local ? undefined : near.subscribe(local.publish, { phase: 'forget' })
  const gaps = new GapDetector()
  const afterSilence = createReminders((events) => void local.publish(events), clock)
  let n = 0
  let timer: unknown
  let closed = false

  function send(events: readonly InvalidationEvent[], isGoodbye = false): void {
    if (closed) return
    if (events.length > 0) n += 1
    const batch: Batch = { origin, n, events, ...(isGoodbye && { isGoodbye }) }
    try {
      eventTarget.dispatchEvent(new CustomEvent(channel, { detail: batch }))
    } catch (error) {
      onError(error)
    }
  }

  function receive({ detail }: { readonly detail?: unknown }): void {
    const batch = parseBatch(detail)
    if (batch?.origin === origin) return
    if (!batch) onError(new Error(`An unreadable message came on the invalidation channel "${channel}".`))
    const missed = !batch || gaps.isGap(batch, clock.now())
    // Not awaited: the sender waits for nobody but its own listeners. `publish` does not reject.
    void local.publish(missed ? ANYTHING : batch.events)
  }

  function beat(): void {
    send([])
    // Three beats are missing.
    if (gaps.fellSilentSince(clock.now() - 3 * heartbeatMs)) {
      void local.publish(ANYTHING)
      // A gateway that fell silent reminds nobody any more of what it had sent to a backend, which may be
      // carried out later.
      afterSilence.add(ANYTHING)
    }
    gaps.forgetSilentSince(clock.now() - 60 * heartbeatMs)
    timer = clock.setTimeout(beat, heartbeatMs)
  }

  eventTarget.addEventListener(channel, receive)
  if (heartbeatMs > 0) timer = clock.setTimeout(beat, heartbeatMs)

  return {
    async publish(events) {
      if (events.length === 0) return
      send(events)
      await near.publish(events)
    },
    get isInTouch() {
      return near.isInTouch
    },
    subscribe: local.subscribe,
    resync: () => local.publish(ANYTHING),
    close() {
      if (closed) return
      send([], true)
      closed = true
      clock.clearTimeout(timer)
      afterSilence.close()
      leaveNear?.()
      eventTarget.removeEventListener(channel, receive)
    },
  }
}

function defaultOnError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.error('[vinyasa] invalidation bus:', error)
}
