import { backgroundClock, type Clock } from '@vinyasa/core'
import type { BatchName, InvalidationEvent } from '@vinyasa/invalidation'
import { Answers } from './answers.ts'
import { listen, type Peer, send } from './peer.ts'

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

export interface BusRelay {
  /**
   * Lets a worker take part from its first `renew` on; `onLate` hears when it did not apply a change in time. The
   * returned function says that it has ended, and whether well: else it may have changed what it told nobody.
   */
  add(worker: Peer, onLate?: () => void): (endedWell: boolean) => void
}

const ANYTHING: readonly InvalidationEvent[] = [{ entityType: '*', operation: '*' }]

/**
 * Times after a worker's end at which everything counts as changed: what it had sent to a backend may be
 * carried out this late, as after a cut.
 */
const AFTER_END_MS = [0, 1_000, 5_000, 30_000]

/** Timers may fire a little early. */
const SLACK_MS = 20

interface Said {
  readonly events: readonly InvalidationEvent[]
  readonly name?: BatchName | undefined
}

interface Member {
  readonly answers: Answers
  readonly onLate: () => void
  /** It answers from nothing that it keeps from then on, unless it is granted more. */
  inTouchUntil: number
}

/**
 * In the first process: passes what a worker publishes to all others, and tells it when each has applied it or is out
 * of touch.
 */
export function createBusRelay(clock: Clock = backgroundClock): BusRelay {
  const members = new Map<Peer, Member>()

  async function tell(peer: Peer, member: Member, { events, name }: Said): Promise<void> {
    const boundMs = member.inTouchUntil - clock.now()
    if (boundMs <= 0) return say(peer, 'apply', 0, events, name)
    const isApplied = await member.answers.wait((id) => say(peer, 'apply', id, events, name), boundMs)
    if (!isApplied && members.has(peer)) member.onLate()
  }

  async function relay(said: Said, sender?: Peer): Promise<void> {
    const others = [...members].filter(([peer]) => peer !== sender)
    await Promise.all(others.map(([peer, member]) => tell(peer, member, said)))
  }

  return {
    add(worker, onLate = () => {}) {
      const member: Member = { answers: new Answers(clock), onLate, inTouchUntil: 0 }
      listen<BusMessage>(worker, 'invalidation', ({ kind, id, events, name }) => {
        if (kind === 'renew') {
          members.set(worker, member)
          member.inTouchUntil = clock.now() + IN_TOUCH_MS + SLACK_MS
          say(worker, 'granted', id)
        }
        if (kind === 'publish') void relay({ events, name }, worker).then(() => say(worker, 'told', id))
        if (kind === 'applied') member.answers.answer(id)
      })
      return (endedWell) => {
        const hasTakenPart = members.delete(worker)
        member.answers.close()
        if (endedWell || !hasTakenPart) return
        for (const ms of AFTER_END_MS) clock.setTimeout(() => void relay({ events: ANYTHING }), ms)
      }
    },
  }
}
