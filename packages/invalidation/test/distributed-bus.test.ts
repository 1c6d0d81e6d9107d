import { createFakeClock } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import {
  createDistributedInvalidationBus,
  createInvalidationBus,
  type DistributedInvalidationBus,
  type InvalidationEvent,
} from '../src/index.ts'
import type { BusEventTarget } from '../src/bus/distributed-bus.ts'

const EVENT = { entityType: 'User', operation: 'update', entityId: '1' }
const ANYTHING = { entityType: '*', operation: '*' }

function setup(target: BusEventTarget = new EventTarget() as BusEventTarget, heartbeatMs = 0) {
  const clock = createFakeClock()
  const errors: unknown[] = []
  const gateway = (origin: string): { bus: DistributedInvalidationBus; seen: InvalidationEvent[] } => {
    const bus = createDistributedInvalidationBus({
      eventTarget: target,
      channel: 'test',
      origin,
      heartbeatMs,
      clock,
      onError: (error) => errors.push(error),
    })
    const seen: InvalidationEvent[] = []
    bus.subscribe((events) => void seen.push(...events))
    return { bus, seen }
  }
  const send = (detail: unknown): unknown => target.dispatchEvent(new CustomEvent('test', { detail }))
  return { a: gateway('a'), b: gateway('b'), clock, errors, send, target }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('createDistributedInvalidationBus', () => {
  it('delivers a batch to the other gateway and once to its own listeners', async () => {
    const { a, b } = setup()
    await a.bus.publish([EVENT])
    await settle()
    expect([a.seen, b.seen]).toEqual([[EVENT], [EVENT]])
  })

  it('publishes over the bus of who is near as well, waits for it, and hears it', async () => {
    const clock = createFakeClock()
    const target = new EventTarget() as BusEventTarget
    const near = createInvalidationBus()
    const bus = createDistributedInvalidationBus({ eventTarget: target, near, clock, heartbeatMs: 0 })
    const seen: InvalidationEvent[] = []
    const nearby: InvalidationEvent[] = []
    const sent: unknown[] = []
    bus.subscribe((events) => void seen.push(...events))
    near.subscribe(async (events) => {
      await settle()
      nearby.push(...events)
    })
    target.addEventListener('vinyasa:invalidation', ({ detail }) => sent.push(detail))
    await bus.publish([EVENT])
    expect([seen, nearby, sent.length]).toEqual([[EVENT], [EVENT], 1])
    // What comes from far is for this process alone, and what comes from near is not sent on.
    target.dispatchEvent(
      new CustomEvent('vinyasa:invalidation', { detail: { origin: 'far', n: 1, events: [ANYTHING] } }),
    )
    await near.publish([EVENT])
    expect([seen, nearby, sent.length]).toEqual([[EVENT, ANYTHING, EVENT], [EVENT, EVENT], 2])
    bus.close()
    await near.publish([EVENT])
    expect(seen).toHaveLength(3)
  })

  it('awaits its own listeners and nobody else’s', async () => {
    const { a, b } = setup()
    let release = (): void => {}
    b.bus.subscribe(() => new Promise((resolve) => (release = resolve)))
    await a.bus.publish([EVENT])
    expect(a.seen).toEqual([EVENT])
    release()
  })

  it('serves its own listeners when the event target throws', async () => {
    const failing: BusEventTarget = {
      addEventListener: () => {},
      removeEventListener: () => {},
      dispatchEvent: () => {
        throw new Error('away')
      },
    }
    const { a, errors } = setup(failing)
    await a.bus.publish([EVENT])
    expect(a.seen).toEqual([EVENT])
    expect(errors).toMatchObject([{ message: 'away' }])
  })

  it('says that anything may have changed when a batch of the other is missing', async () => {
    const { b, send } = setup()
    send({ origin: 'c', n: 1, events: [EVENT] })
    send({ origin: 'c', n: 3, events: [EVENT] })
    send({ origin: 'c', n: 4, events: [EVENT] })
    await settle()
    expect(b.seen).toEqual([EVENT, ANYTHING, EVENT])
  })

  it('notices from a heartbeat that the last batch is missing', async () => {
    const { b, send } = setup()
    send({ origin: 'c', n: 1, events: [EVENT] })
    send({ origin: 'c', n: 1, events: [] })
    await settle()
    expect(b.seen).toEqual([EVENT])
    send({ origin: 'c', n: 2, events: [] })
    send({ origin: 'c', n: 2, events: [] })
    await settle()
    expect(b.seen).toEqual([EVENT, ANYTHING])
  })

  it('sends heartbeats with the count so far, and stops when closed', async () => {
    const beats: unknown[] = []
    const target = new EventTarget()
    target.addEventListener('test', (event) => void beats.push((event as CustomEvent).detail))
    const { a, b, clock } = setup(target as BusEventTarget, 1000)
    await a.bus.publish([EVENT])
    await clock.advance(1000)
    expect(beats).toContainEqual({ origin: 'a', n: 1, events: [] })
    expect(beats).toContainEqual({ origin: 'b', n: 0, events: [] })
    a.bus.close()
    b.bus.close()
    expect(clock.pending()).toBe(0)
  })

  it.each([
    ['nothing', undefined],
    ['no object', 'User.update'],
    ['no events', { origin: 'c', n: 1 }],
    ['an event without an operation', { origin: 'c', n: 1, events: [{ entityType: 'User' }] }],
    ['an id that is no text', { origin: 'c', n: 1, events: [{ ...EVENT, entityId: 1 }] }],
    ['a count that is none', { origin: 'c', n: 'x', events: [EVENT] }],
  ])('takes an unreadable message for a loss: %s', async (_, detail) => {
    const { a, b, send, errors } = setup()
    send(detail)
    await settle()
    expect([a.seen, b.seen]).toEqual([[ANYTHING], [ANYTHING]])
    expect(errors).toHaveLength(2)
  })

  it('takes events that a backend wrote to the channel without origin and count', async () => {
    const { a, b, send } = setup()
    send({ events: [EVENT] })
    await settle()
    expect([a.seen, b.seen]).toEqual([[EVENT], [EVENT]])
  })

  it('takes a sender that falls silent for three heartbeats for a loss, again while a backend may commit for it, and one that says goodbye for none', async () => {
    const { b, send, clock } = setup(undefined, 1000)
    send({ origin: 'killed', n: 1, events: [] })
    send({ origin: 'closed', n: 1, events: [] })
    send({ origin: 'closed', n: 1, events: [], isGoodbye: true })
    await clock.advance(3000)
    expect(b.seen).toEqual([])
    const times = [1_000, 1_500, 4_000, 25_000, 100_000]
    for (const [index, ms] of times.entries()) {
      await clock.advance(ms)
      // At once, after 1 s, 5 s and 30 s, and no more.
      expect(b.seen).toEqual(Array.from({ length: Math.min(index + 1, 4) }, () => ANYTHING))
    }
  })

  it('reminds nobody after close', async () => {
    const { b, send, clock } = setup(undefined, 1000)
    send({ origin: 'killed', n: 1, events: [] })
    await clock.advance(4_000)
    b.bus.close()
    await clock.advance(100_000)
    expect(b.seen).toEqual([ANYTHING])
  })

  it('hears and says nothing after close', async () => {
    const { a, b } = setup()
    a.bus.close()
    await b.bus.publish([EVENT])
    await a.bus.publish([EVENT])
    await settle()
    expect([a.seen, b.seen]).toEqual([[EVENT], [EVENT]])
  })
})
