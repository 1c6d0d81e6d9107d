import { backgroundClock, type Clock } from '@vinyasa/core'
import type { BatchName, InvalidationBus, InvalidationEvent } from '@vinyasa/invalidation'
import { Answers } from './answers.ts'
import { type BusMessage, IN_TOUCH_MS, say } from './bus-relay.ts'
import { listen, type Peer } from './peer.ts'
import { WorkersOutOfTouchError } from './errors.ts'

const RENEW_MS = IN_TOUCH_MS / 4

/**
 * The first process tells within `IN_TOUCH_MS` of what it hears. While it stands still it grants nothing either: everybody
 * has been out of touch for long by then, and it reads what waits for it before anybody can ask anew.
 */
const TOLD_MS = 3 * IN_TOUCH_MS

export interface WorkerBusOptions {
  /** Receives a {@link WorkersOutOfTouchError} where a change was published and the first process said nothing. */
  readonly onError: (error: Error) => void
  readonly clock?: Clock | undefined
}

/**
 * In a worker: `publish` resolves when each other worker has applied the events too, or is out of touch. One that
 * lags behind (stopped, or busy for too long) finds that out by itself, without a message: `isInTouch` is false then,
 * until it has applied all that it missed.
 */
export function createWorkerBus(
  first: Peer,
  local: InvalidationBus,
  { onError, clock = backgroundClock }: WorkerBusOptions,
): InvalidationBus {
  const answers = new Answers(clock)
  let inTouchUntil = -Infinity
  let applied: Promise<void> = Promise.resolve()

  listen<BusMessage>(first, 'invalidation', ({ kind, id, events, name }) => {
    if (kind === 'told') answers.answer(id)
    if (kind === 'granted') void applied.then(() => answers.answer(id))
    if (kind === 'apply') {
      const done = local.publish(events, name && { ...name, isOwn: false })
      applied = applied.then(() => done)
      void done.then(() => say(first, 'applied', id))
    }
  })
  first.on('disconnect', () => answers.close())

  async function renew(): Promise<void> {
    const askedAt = clock.now()
    if (!(await answers.wait((id) => say(first, 'renew', id)))) return
    inTouchUntil = askedAt + IN_TOUCH_MS
    clock.setTimeout(() => void renew(), RENEW_MS)
  }
  void renew()

  async function tellOthers(events: readonly InvalidationEvent[], name?: BatchName): Promise<void> {
    if (!first.isConnected()) return
    const isTold = await answers.wait((id) => say(first, 'publish', id, events, name), TOLD_MS)
    if (!isTold && first.isConnected()) onError(new WorkersOutOfTouchError(TOLD_MS))
  }

  return {
    async publish(events, name) {
      if (events.length === 0) return
      await Promise.all([local.publish(events, name), tellOthers(events, name)])
    },
    get isInTouch() {
      return clock.now() < inTouchUntil
    },
    subscribe: local.subscribe,
  }
}
