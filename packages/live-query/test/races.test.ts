import { createFakeClock } from '@vinyasa/test-kit'
import { afterEach, describe, expect, it } from 'vitest'
import { createLiveQueryStore, type LiveQueryStoreOptions } from '../src/index.ts'
import type { LiveQueryUpdate } from '../src/store/update.ts'
import type { LivePlan } from '../src/document/live-plan.ts'
import { toUpdate } from '../src/store/update.ts'
import { USERS, startLive, subscribe, type LiveSetup } from './support.ts'

const EVENT = { entityType: 'User', operation: 'update', entityId: '1' }

const PLAN: LivePlan = {
  strategy: 'INVALIDATION',
  triggers: ['User.update'],
  throttleMs: 100,
  pollIntervalMs: 1000,
  ttlSeconds: 0,
  volatility: undefined,
  maxConnections: new Map(),
}

/** A store on a fake clock over one value, whose executions end when the test says so. */
function storeOf({ platform, ...options }: LiveQueryStoreOptions = {}) {
  const clock = createFakeClock()
  const errors: unknown[] = []
  const store = createLiveQueryStore({
    platform: { clock, random: () => 0, ...platform },
    onError: (error) => errors.push(error),
    ...options,
  })
  const world = {
    value: 0 as unknown,
    runs: 0,
    aborted: 0,
    failure: undefined as Error | undefined,
    delayMs: 0,
  }
  async function execute({ signal }: { signal: AbortSignal }) {
    world.runs += 1
    signal.addEventListener('abort', () => world.aborted++)
    // What a backend returns is what it held when it was asked.
    const { value, failure } = world
    if (world.delayMs > 0) await new Promise<void>((resolve) => clock.setTimeout(resolve, world.delayMs))
    if (failure) throw failure
    return { data: { value } }
  }
  const order: string[] = []
  function join(id: string, plan: Partial<LivePlan> = {}, key = 'group', operation?: string) {
    const updates: LiveQueryUpdate[] = []
    const state = { ready: true, ended: false, errors: undefined as unknown }
    const subscription = store.register({
      id,
      key,
      operation,
      plan: { ...PLAN, ...plan },
      execute(run) {
        order.push(id)
        return execute(run)
      },
      channel: {
        ready: () => state.ready,
        next: (delivery) => void updates.push(toUpdate(delivery, id)),
        end: (errors) => Object.assign(state, { ended: true, errors }),
      },
    })
    return {
      updates,
      state,
      subscription,
      last: () => (updates.at(-1)?.data as { value: number } | null)?.value,
    }
  }
  function change(value: number): number {
    world.value = value
    return store.invalidate(EVENT)
  }
  return { clock, store, world, join, change, errors, order }
}

describe('race and fault cases', () => {
  it.each([
    ['a BigInt', 1n],
    ['lists nested too deep for JSON.stringify', Array.from({ length: 100_000 }).reduce((list) => [list], 1)],
  ])(
    'a result that JSON cannot hold, %s: an error in its place, and the next result follows',
    async (_, value) => {
      const { clock, join, change, world, errors } = storeOf()
      world.value = value
      const member = join('a')
      await clock.advance(0)
      expect(member.updates).toMatchObject([{ data: null, errors: [{ message: 'Unexpected error.' }] }])
      expect(errors).toHaveLength(1)
      change(2)
      await clock.advance(1000)
      expect(member.last()).toBe(2)
    },
  )

  it('an invalidation during the first execution is not lost', async () => {
    const { clock, world, join, change } = storeOf()
    world.delayMs = 50
    const a = join('a')
    await clock.advance(10)
    change(1)
    await clock.advance(40)
    expect(a.last()).toBe(0)
    await clock.advance(1000)
    expect(a.last()).toBe(1)
    expect(world.runs).toBe(2)
  })

  it('a stream of events every 20 ms over an execution of 200 ms does not starve the client', async () => {
    const { clock, world, join, change } = storeOf()
    const a = join('a')
    await clock.advance(1000)
    world.delayMs = 200
    for (let n = 1; n <= 100; n++) {
      change(n)
      await clock.advance(20)
    }
    // One for each max_wait_ms and run, in 2,000 ms.
    expect(a.updates.length).toBeGreaterThanOrEqual(1 + Math.floor(2000 / (500 + 200)))
    await clock.advance(2000)
    expect(a.last()).toBe(100)
    expect(world.runs).toBeLessThanOrEqual(8)
    // Each run was delivered.
    expect(a.updates).toHaveLength(world.runs)
  })

  it('those who ask the same run next to each other, whoever came first', async () => {
    const { clock, join, change, order } = storeOf()
    for (const [id, operation] of [['a1', 'a'], ['b1', 'b'], ['c'], ['a2', 'a'], ['b2', 'b'], ['d']] as const)
      join(id, {}, id, operation)
    await clock.advance(0)
    order.length = 0
    change(1)
    await clock.advance(1000)
    expect(order).toEqual(['a1', 'a2', 'b1', 'b2', 'c', 'd'])
  })

  it('an event that many hear of begins a part of their runs at once, and loses none', async () => {
    const { clock, store, join, change, order } = storeOf()
    const ids = Array.from({ length: 600 }, (_, index) => `s${index}`)
    const members = ids.map((id) => join(id, { throttleMs: 0 }, id))
    await clock.advance(1000)
    order.length = 0
    change(1)
    expect(order).toEqual(ids.slice(0, 256))
    // Who leaves before its turn is not run, and who comes shares nothing from before the event.
    store.unregister('s400')
    const late = join('late', { throttleMs: 0 }, 's401')
    const other = join('other', { throttleMs: 0 }, 'other')
    expect(order.slice(256)).toEqual(['s401', 'other'])
    await clock.advance(1000)
    expect(order).toHaveLength(600)
    expect(order.toSorted()).toEqual([...ids.filter((id) => id !== 's400'), 'other'].toSorted())
    expect(other.last()).toBe(1)
    expect(members.filter(({ last }) => last() !== 1)).toHaveLength(1)
    expect(late.updates.map(({ data }) => data)).toEqual([{ value: 1 }])
  })

  it('leaving during a run aborts it and leaves nothing behind', async () => {
    const { clock, store, world, join } = storeOf()
    world.delayMs = 500
    const [a, b] = [join('a'), join('b')]
    await clock.advance(10)
    expect(store.unregister('a')?.id).toBe('a')
    expect(store.unregister('a')).toBeUndefined()
    expect(world.aborted).toBe(0)
    store.unregister('b')
    expect(world.aborted).toBe(1)
    expect(store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
    await clock.advance(1000)
    expect([a.updates, b.updates]).toEqual([[], []])
    expect(clock.pending()).toBe(0)
    expect(store.invalidate(EVENT)).toBe(0)
  })

  it('a consumer that does not take its updates has one waiting, the newest; the others are not held up', async () => {
    const { clock, join, change } = storeOf()
    const [slow, quick] = [join('slow'), join('quick')]
    await clock.advance(1000)
    slow.state.ready = false
    for (let n = 1; n <= 50; n++) {
      change(n)
      await clock.advance(200)
    }
    expect(quick.updates).toHaveLength(51)
    expect(slow.updates).toHaveLength(1)
    slow.state.ready = true
    slow.subscription.flush()
    expect(slow.updates).toHaveLength(2)
    expect(slow.updates[1]).toMatchObject({
      data: { value: 50 },
      revision: 2,
      batched: true,
      changed_fields: ['value'],
    })
    expect(quick.updates[50]).not.toHaveProperty('batched')
  })

  it('a rejected run is delivered as data null with errors, the subscription lives and heals by itself', async () => {
    const { clock, world, join, change, errors } = storeOf()
    const a = join('a')
    await clock.advance(1000)
    world.failure = new Error('the backend is away')
    change(1)
    await clock.advance(200)
    expect(a.updates[1]).toMatchObject({
      data: null,
      errors: [{ message: 'Unexpected error.' }],
      changed_fields: ['value'],
    })
    expect(errors).toContain(world.failure)
    world.failure = undefined
    await clock.advance(5000)
    expect(a.last()).toBe(1)
  })

  it('repeated failures back off: at most one try in 1.5 s in the long run, and equal failures are told once', async () => {
    const { clock, world, join, change } = storeOf()
    const a = join('a')
    await clock.advance(1000)
    world.failure = new Error('the backend is away')
    change(1)
    await clock.advance(100_000)
    expect(a.updates).toHaveLength(2)
    expect(world.runs).toBeLessThan(70)
    expect(world.runs).toBeGreaterThan(30)
  })

  it('a query that never brought data ends after 20 tries, with the errors of the last', async () => {
    const { clock, world, join, store } = storeOf()
    world.failure = new Error('the backend is away')
    const a = join('a')
    const b = join('b')
    await clock.advance(100_000)
    expect(world.runs).toBe(20)
    for (const { updates, state } of [a, b]) {
      expect(updates).toHaveLength(1)
      expect(state).toMatchObject({ ended: true, errors: [{ message: 'Unexpected error.' }] })
    }
    expect(store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
    expect(clock.pending()).toBe(0)
  })

  it('a backend that comes back after a long time is seen within 3 s', async () => {
    for (let round = 0; round < 10; round++) {
      const { clock, world, join, change } = storeOf()
      const a = join('a')
      await clock.advance(1000)
      world.failure = new Error('the backend is away')
      change(1)
      await clock.advance(60_000 + 371 * round)
      world.failure = undefined
      await clock.advance(3000)
      expect(a.last()).toBe(1)
    }
  })

  it('an error that trying again cannot fix is not tried again', async () => {
    const { clock, store, world } = storeOf()
    const plan = PLAN
    store.register({
      key: null,
      plan,
      execute: async () => {
        world.runs += 1
        return {
          data: { user: null },
          errors: [{ message: 'No such user', extensions: { code: 'NOT_FOUND' } }],
        }
      },
      channel: { ready: () => true, next: () => {}, end: () => {} },
    })
    await clock.advance(60_000)
    expect(world.runs).toBe(1)
  })

  it('the throttle loses no update: 2,000 events at random times, the last value is always the truth', async () => {
    const { clock, join, change } = storeOf()
    const a = join('a')
    const lost: number[] = []
    let seed = 1
    const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647
    for (let n = 1; n <= 2000; n++) {
      change(n)
      if (random() < 0.1) await clock.advance(Math.floor(random() * 400))
      if (n % 200 > 0) continue
      await clock.advance(700)
      if (a.last() !== n) lost.push(n)
    }
    expect(lost).toEqual([])
  })

  it('a reconnect of 1,000 clients at once costs at most 2 executions', async () => {
    const { clock, world, join } = storeOf()
    world.delayMs = 20
    const clients = Array.from({ length: 1000 }, (_, n) => join(`c${n}`))
    await clock.advance(100)
    expect(world.runs).toBe(1)
    // Stragglers, while the result is fresh.
    clients.push(...Array.from({ length: 1000 }, (_, n) => join(`d${n}`)))
    await clock.advance(100)
    expect(world.runs).toBeLessThanOrEqual(2)
    expect(clients.every((client) => client.updates.length === 1 && client.updates[0]!.is_initial)).toBe(true)
  })

  it('a joiner does not take a result that an event has made old', async () => {
    const { clock, world, join, change } = storeOf()
    join('a')
    await clock.advance(10)
    world.delayMs = 30
    change(1)
    const b = join('b')
    await clock.advance(31)
    expect(b.last()).toBe(1)
    // In flight, but begun before the event.
    const c = join('c', {}, 'other')
    await clock.advance(5)
    change(2)
    const d = join('d', {}, 'other')
    await clock.advance(200)
    expect([c.last(), d.last()]).toEqual([2, 2])
    expect((d.updates[0]!.data as { value: number }).value).toBe(2)
  })

  it('joiners do not hold up the updates of those who are there, nor break their throttle', async () => {
    const { clock, join, change } = storeOf()
    const a = join('a')
    await clock.advance(1000)
    change(1)
    for (let n = 0; n < 20; n++) {
      join(`j${n}`)
      await clock.advance(10)
    }
    // Each of these runs the query: what is there is too old.
    for (let n = 20; n < 40; n++) {
      await clock.advance(1000)
      join(`j${n}`)
    }
    expect(a.updates.map(({ data }) => (data as { value: number }).value)).toEqual([0, 1])
  })

  it('an unchanged result is sent by default, and not with skipUnchanged', async () => {
    const changedFields = async (skipUnchanged: boolean): Promise<unknown[]> => {
      const { clock, store, join } = storeOf({ skipUnchanged })
      const a = join('a')
      await clock.advance(1000)
      store.invalidate(EVENT)
      await clock.advance(1000)
      return a.updates.map((update) => update.changed_fields)
    }
    expect(await changedFields(false)).toEqual([undefined, []])
    expect(await changedFields(true)).toEqual([undefined])
  })

  it('a burst of 1,000 events costs at most 2 executions', async () => {
    const { clock, world, join, change } = storeOf()
    const a = join('a')
    await clock.advance(1000)
    world.delayMs = 10
    world.runs = 0
    for (let n = 1; n <= 1000; n++) change(n)
    await clock.advance(2000)
    expect(world.runs).toBeLessThanOrEqual(2)
    expect(a.last()).toBe(1000)
    expect(a.updates.at(-1)).toMatchObject({ batched: true })
  })

  it('after a gap every group runs again, spread over time, and tells only what is different', async () => {
    const { clock, store, world, join } = storeOf({ platform: { random: Math.random } })
    const clients = Array.from({ length: 200 }, (_, n) => join(`c${n}`, {}, `group ${n}`))
    await clock.advance(2000)
    expect(world.runs).toBe(200)
    world.value = 1
    expect(store.invalidate({ entityType: '*', operation: '*' })).toBe(200)
    await clock.advance(500)
    expect(world.runs).toBeGreaterThan(210)
    expect(world.runs).toBeLessThan(390)
    await clock.advance(4000)
    expect(world.runs).toBe(400)
    expect(clients.every((client) => client.last() === 1 && client.updates.length === 2)).toBe(true)
    store.invalidate({ entityType: '*', operation: '*' })
    await clock.advance(5000)
    expect(clients.every((client) => client.updates.length === 2)).toBe(true)
  })

  it('close completes every subscription and stops every timer', async () => {
    const { clock, store, join } = storeOf()
    const clients = [join('a', { ttlSeconds: 5 }), join('b', { strategy: 'POLLING', triggers: [] }, 'polled')]
    await clock.advance(100)
    store.close()
    expect(clients.map((client) => client.state.ended)).toEqual([true, true])
    expect(clock.pending()).toBe(0)
    expect(() => join('c')).toThrow('closed')
  })
})

describe('a stalled client over a real socket', () => {
  let setup: LiveSetup
  afterEach(() => setup.close())

  it('has one pending result, memory stays flat, and the others get everything', async () => {
    setup = await startLive({ ws: { keepAliveMs: 0 }, plugin: { fields: { users: { throttleMs: 0 } } } })
    const big = 'x'.repeat(200_000)
    const [stalled, quick] = [await setup.ready(), await setup.ready()]
    for (const socket of [stalled, quick]) {
      socket.sendJson(subscribe('a', USERS))
      await socket.next()
    }
    stalled.pause()
    for (let n = 1; n <= 200; n++) {
      await setup.changeUser('1', { name: `${n}${big}` })
      const frame = await quick.next()
      expect(frame.text).toContain(`"name":"${n}x`)
    }
    // The kernel's buffers take some; after that one result at most waits.
    expect(stalled.frames.length).toBeLessThan(30)
    stalled.resume()
    await expect
      .poll(() => stalled.frames.at(-1)!.text.includes('"name":"200x'), { timeout: 5000 })
      .toBe(true)
    expect(stalled.frames.length).toBeLessThan(60)
    const last = stalled.frames.at(-1)!.json().payload
    expect(last.batched).toBe(true)
    expect(last.revision).toBe(stalled.frames.length - 1)
  })
})
