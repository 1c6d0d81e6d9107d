import { createFakeClock } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import {
  createInvalidationBus,
  type DistributedInvalidationBus,
  type InvalidationEvent,
} from '../src/index.ts'
import { type BusEventTarget, type BusInternals, openBus } from '../src/bus/distributed-bus.ts'

const EVENT = { entityType: 'User', operation: 'update', entityId: '1' }
const ANYTHING = { entityType: '*', operation: '*' }
/** No heartbeat is sent within a test. */
const NEVER_MS = 1e9

function setup(target: BusEventTarget = new EventTarget() as BusEventTarget, heartbeatMs = NEVER_MS) {
  const clock = createFakeClock()
  const errors: unknown[] = []
  const states: string[] = []
  const gateway = (origin: string): { bus: DistributedInvalidationBus; seen: InvalidationEvent[] } => {
    const bus = openBus(
      {
        eventTarget: target,
        channel: 'test',
        onError: (error) => errors.push(error),
        onState: (state) => void states.push(`${origin} ${state}`),
      },
      { origin, heartbeatMs, clock },
    )
    const seen: InvalidationEvent[] = []
    bus.subscribe((events) => void seen.push(...events))
    return { bus, seen }
  }
  const send = (detail: unknown): unknown => target.dispatchEvent(new CustomEvent('test', { detail }))
  return { a: gateway('a'), b: gateway('b'), clock, errors, states, send, target, gateway }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('createDistributedInvalidationBus', () => {
  it('delivers a batch to the other gateway and once to its own listeners', async () => {
    const { a, b } = setup()
    await a.bus.publish([EVENT])
    await settle()
    expect([a.seen, b.seen]).toEqual([[EVENT], [EVENT]])
  })

  it('gives a batch one name here, there, and near, and none to what stands for those that are missing', async () => {
    const { gateway, send } = setup()
    const far = gateway('far')
    const near = createInvalidationBus()
    const target = new EventTarget() as BusEventTarget
    const both: BusInternals = { clock: createFakeClock(), heartbeatMs: NEVER_MS }
    const [a, b] = [
      openBus({ eventTarget: target, near }, { ...both, origin: 'a' }),
      openBus({ eventTarget: target, near }, { ...both, origin: 'b' }),
    ]
    const namesOf = (bus: DistributedInvalidationBus): unknown[] => {
      const names: unknown[] = []
      bus.subscribe((_events, name) => void names.push(name))
      return names
    }
    const [here, nearby, there] = [namesOf(a), namesOf(b), namesOf(far.bus)]
    await a.publish([EVENT])
    await settle()
    const isOthers = { origin: 'a', n: 1, isOwn: false }
    // Whoever is near hears it over both.
    expect([here, nearby, there]).toEqual([[{ ...isOthers, isOwn: true }], [isOthers, isOthers], []])
    for (const n of [4, 6]) send({ origin: 'c', n, events: [EVENT] })
    send({ events: [EVENT] })
    await settle()
    expect(there).toEqual([{ origin: 'c', n: 4, isOwn: false }, undefined, undefined])
  })

  it('publishes over the bus of who is near as well, waits for it, and hears it', async () => {
    const clock = createFakeClock()
    const target = new EventTarget() as BusEventTarget
    const near = createInvalidationBus()
    const bus = openBus({ eventTarget: target, near }, { clock, heartbeatMs: NEVER_MS })
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
    // What comes from far is for this process alone, to which it is told, and what comes from near is not sent on.
    target.dispatchEvent(
      new CustomEvent('vinyasa:invalidation', { detail: { origin: 'far', n: 1, events: [ANYTHING] } }),
    )
    await near.publish([EVENT])
    expect([seen, nearby, sent.length]).toEqual([[EVENT, ANYTHING, EVENT], [EVENT, EVENT], 3])
    expect(sent[2]).toMatchObject({ events: [], applied: { far: 1 } })
    bus.close()
    await near.publish([EVENT])
    expect(seen).toHaveLength(3)
  })

  describe('waits for the listeners of the others', () => {
    /** Two that know each other; the second one's listeners end when they are let go. */
    async function pair() {
      const { a, b, clock, target, send, states } = setup(undefined, 1000)
      await clock.advance(1000)
      const held: (() => void)[] = []
      b.bus.subscribe(() => new Promise((resolve) => held.push(resolve)))
      let over = 0
      return {
        target,
        send,
        states,
        over: () => over,
        release: async () => {
          for (const end of held.splice(0)) end()
          await settle()
        },
        pass: async (ms: number) => {
          await clock.advance(ms)
          return over
        },
        publish: async () => {
          void a.bus.publish([EVENT]).then(() => over++)
          await settle()
          return over
        },
      }
    }

    it('until each has ended', async () => {
      const { publish, release, over } = await pair()
      expect(await publish()).toBe(0)
      await release()
      expect(over()).toBe(1)
    })

    it('for a second at most, and for none who was late until it says that it is done, or greets', async () => {
      const { publish, release, pass, send, states } = await pair()
      expect([await publish(), await pass(999), await pass(1), await publish()]).toEqual([0, 0, 1, 2])
      expect(states).toEqual(['a unconfirmed'])
      await release()
      // What it says of both goes out together.
      expect([await pass(5), await publish(), await pass(1000), await publish()]).toEqual([2, 2, 3, 4])
      expect(states).toEqual(['a unconfirmed', 'a confirmed', 'a unconfirmed'])
      send({ origin: 'b', n: 0, events: [], isGreeting: true })
      expect(await publish()).toBe(4)
      expect(states.slice(3)).toEqual(['a confirmed'])
    })

    it('for all again when the one that was late says goodbye', async () => {
      const { publish, pass, send, states } = await pair()
      expect([await publish(), await pass(1000)]).toEqual([0, 1])
      send({ origin: 'b', n: 0, events: [], isGoodbye: true })
      expect(states).toEqual(['a unconfirmed', 'a confirmed'])
    })

    it('for all again when the one that was late falls silent', async () => {
      const { a, clock, send, states } = setup(undefined, 1000)
      send({ origin: 'c', n: 0, events: [] })
      void a.bus.publish([EVENT])
      await clock.advance(1000)
      expect(states).toEqual(['a unconfirmed'])
      await clock.advance(3000)
      expect(states).toEqual(['a unconfirmed', 'a confirmed', 'a incomplete', 'b incomplete'])
    })

    it('and no longer for one that says goodbye meanwhile', async () => {
      const { publish, send } = await pair()
      expect(await publish()).toBe(0)
      send({ origin: 'b', n: 0, events: [], isGoodbye: true })
      expect([await publish(), await publish()]).toEqual([2, 3])
    })

    it('for each of several, and not for those who only write what they change', async () => {
      const { publish, send, release, pass } = await pair()
      send({ origin: 'billing', n: 1, events: [EVENT] })
      send({ origin: 'c', n: 0, events: [] })
      expect(await publish()).toBe(0)
      await release()
      expect(await pass(5)).toBe(0)
      send({ origin: 'c', n: 0, events: [], applied: { a: 1 } })
      expect(await pass(5)).toBe(1)
    })

    it('for 250 ms where the channel does not take it, and not again until something is heard', async () => {
      const { publish, pass, target, send, states } = await pair()
      const { dispatchEvent } = target
      target.dispatchEvent = () => new Promise(() => {})
      expect([await publish(), await pass(249), await pass(1), await publish()]).toEqual([0, 0, 1, 2])
      target.dispatchEvent = dispatchEvent
      expect(states).toEqual(['a unconfirmed'])
      send({ origin: 'c', n: 0, events: [] })
      expect(states).toEqual(['a unconfirmed', 'a confirmed'])
      expect(await publish()).toBe(2)
    })

    it.each([false, Promise.resolve(false)])('but for nobody where nothing goes out: %s', async (taken) => {
      const { publish, target } = await pair()
      target.dispatchEvent = () => taken
      expect(await publish()).toBe(1)
    })
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

  it('reports unreadable messages at once, then once a minute with their number', async () => {
    const { a, send, errors, clock } = setup()
    for (let count = 0; count < 200; count++) send(undefined)
    await settle()
    expect(errors).toHaveLength(2)
    expect(a.seen).toContainEqual(ANYTHING)
    await clock.advance(60_000)
    send(undefined)
    expect(errors.slice(2).map(String)).toEqual([
      expect.stringContaining('messages (200)'),
      expect.stringContaining('messages (200)'),
    ])
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

  it('keeps nothing for longer than three heartbeats while one is missing, and while another says so', async () => {
    const { b, send, clock, target } = setup(undefined, 1000)
    const maxAges: (number | undefined)[] = []
    const pass = async (ms: number): Promise<void> => {
      await clock.advance(ms)
      maxAges.push(b.bus.maxAgeMs)
    }
    send({ origin: 'closed', n: 0, events: [] })
    send({ origin: 'closed', n: 0, events: [], isGoodbye: true })
    send({ origin: 'parted', n: 0, events: [] })
    const said: unknown[] = []
    target.addEventListener('test', ({ detail }) => said.push(detail))
    await pass(2_999)
    expect(said).not.toContainEqual(expect.objectContaining({ knowsOfMissing: true }))
    await pass(2)
    await pass(9 * 60_000)
    expect(said).toContainEqual({ origin: 'b', n: 0, events: [], knowsOfMissing: true })
    send({ origin: 'parted', n: 0, events: [] })
    await pass(900)
    // It was said last by the heartbeats before.
    send({ origin: 'parted', n: 0, events: [], isGoodbye: true })
    await pass(3_000)
    expect(maxAges).toEqual([undefined, 3_000, 3_000, 3_000, undefined])
  })

  it('is out of touch after a loss until each other one is heard, for three heartbeats at most', async () => {
    const clock = createFakeClock()
    const target = new EventTarget() as BusEventTarget
    const bus = openBus({ eventTarget: target, channel: 'test' }, { heartbeatMs: 1000, clock })
    const send = (origin: string, more: object = {}): unknown =>
      target.dispatchEvent(new CustomEvent('test', { detail: { origin, n: 0, events: [], ...more } }))
    const states: boolean[] = []
    const look = (): unknown => states.push(bus.isInTouch !== false)
    await bus.resync()
    look()
    for (const origin of ['here', 'parted', 'closed']) send(origin)
    send('closed', { isGoodbye: true })
    await clock.advance(500)
    await bus.resync()
    look()
    await clock.advance(100)
    send('here')
    look()
    send('parted', { n: 1 })
    look()
    await clock.advance(500)
    await bus.resync()
    await clock.advance(2_999)
    look()
    await clock.advance(1)
    look()
    expect(states).toEqual([true, false, false, true, false, true])
    bus.close()
  })

  it('reports once that a process is missing, and once that none is', async () => {
    const { states, send, clock } = setup(undefined, 1000)
    for (const origin of ['one', 'other']) send({ origin, n: 0, events: [] })
    await clock.advance(3_999)
    const ofA = (): string[] => states.filter((state) => state.startsWith('a '))
    expect(ofA()).toEqual([])
    await clock.advance(3_000)
    expect(ofA()).toEqual(['a incomplete'])
    send({ origin: 'one', n: 0, events: [] })
    await clock.advance(1_000)
    expect(ofA()).toEqual(['a incomplete'])
    send({ origin: 'other', n: 0, events: [], isGoodbye: true })
    await clock.advance(1_000)
    expect(ofA()).toEqual(['a incomplete', 'a complete'])
  })

  it('waits ten minutes for one that is missing', async () => {
    const { b, send, clock } = setup(undefined, 1000)
    send({ origin: 'killed', n: 0, events: [] })
    await clock.advance(9 * 60_000)
    expect(b.bus.maxAgeMs).toBe(3_000)
    await clock.advance(2 * 60_000)
    expect(b.bus.maxAgeMs).toBe(undefined)
  })

  it('keeps the counts of ten thousand senders, and takes what further ones send for anything', async () => {
    const { b, send } = setup()
    for (let n = 0; n < 10_000; n++) send({ origin: `o${n}`, n: 1, events: [EVENT] })
    await settle()
    expect(new Set(b.seen)).toEqual(new Set([EVENT]))
    send({ origin: 'one more', n: 1, events: [EVENT] })
    await settle()
    expect(b.seen.slice(10_000)).toEqual([ANYTHING])
  })

  it('hears of a gateway that others miss and it has never heard', async () => {
    const { b, send, clock } = setup(undefined, 1000)
    send({ origin: 'c', n: 0, events: [], knowsOfMissing: true })
    expect(b.bus.maxAgeMs).toBe(3_000)
    await clock.advance(2_000)
    send({ origin: 'c', n: 0, events: [] })
    await clock.advance(1_001)
    expect(b.bus.maxAgeMs).toBe(undefined)
  })

  it('says that a batch was applied to its sender alone, and to all where the sender does not listen apart', async () => {
    const { a, b, send, target, gateway, clock } = setup(undefined, 1000)
    const c = gateway('c')
    const said = { test: [], 'test.a': [] } as Record<string, unknown[]>
    for (const [channel, heard] of Object.entries(said))
      target.addEventListener(channel, ({ detail }) => heard.push(detail))
    // Each hears of the others by a heartbeat.
    await clock.advance(1000)
    for (const heard of Object.values(said)) heard.length = 0
    await a.bus.publish([EVENT])
    expect([b.seen, c.seen]).toEqual([[EVENT], [EVENT]])
    expect(said).toEqual({
      test: [{ origin: 'a', n: 1, events: [EVENT], listensApart: true }],
      'test.a': ['b', 'c'].map((origin) => ({ origin, n: 0, events: [], applied: { a: 1 } })),
    })
    send({ origin: 'old', n: 1, events: [EVENT] })
    await clock.advance(5)
    expect(said['test']).toContainEqual({ origin: 'a', n: 1, events: [], applied: { old: 1 } })
  })

  it('answers whoever greets, and greets nobody back', async () => {
    const { a, b, target } = setup(undefined, 1000)
    const said: unknown[] = []
    target.addEventListener('test', ({ detail }) => said.push(detail))
    a.bus.greet()
    await settle()
    expect(said).toContainEqual({ origin: 'a', n: 0, events: [], isGreeting: true })
    expect(said).toContainEqual({ origin: 'b', n: 0, events: [] })
    expect(said).toHaveLength(2)
    expect(b.seen).toEqual([])
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
