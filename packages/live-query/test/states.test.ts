import { afterEach, describe, expect, it } from 'vitest'
import { USERS, startLive, subscribe, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

/** Lets what is on its way over the loopback arrive. */
const arrive = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 25))

describe('WebSocket connection and live subscription (the specification’s states, over raw frames)', () => {
  it('connected, not initialised: client sends connection_init → the server sends connection_ack', async () => {
    setup = await startLive()
    const socket = await setup.connect()
    socket.sendJson({ type: 'connection_init' })
    expect(await socket.nextJson()).toEqual({ type: 'connection_ack' })
    expect(socket.protocol).toBe('graphql-transport-ws')
  })

  it('acknowledged: client sends subscribe with a query carrying @live → registered, stripped, next with is_initial true', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    expect(await socket.nextJson()).toEqual({
      id: 'a',
      type: 'next',
      payload: {
        id: 'a',
        is_initial: true,
        revision: 1,
        timestamp: Math.floor(setup.clock.now() / 1000),
        data: {
          users: {
            users: [
              { id: '1', name: 'Ada', status: 'ONLINE' },
              { id: '2', name: 'Bob', status: 'AWAY' },
            ],
            totalCount: 2,
          },
        },
      },
    })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 1, groups: 1 })
  })

  it('subscription active: an invalidation event matches a trigger, throttle_ms has elapsed → re-executed, next with the full result', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(99)
    expect(socket.frames).toHaveLength(2)
    await setup.clock.advance(1)
    const { payload } = await socket.nextJson()
    expect(payload).toMatchObject({
      id: 'a',
      is_initial: false,
      revision: 2,
      changed_fields: ['users.users[0].name'],
      timestamp: Math.floor(setup.clock.now() / 1000),
      data: { users: { users: [{ name: 'Eve' }, { name: 'Bob' }], totalCount: 2 } },
    })
    expect(payload).not.toHaveProperty('batched')
  })

  it('subscription active: poll interval elapses (strategy POLLING) → re-executed, next sent', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', 'query @live { polled { name } }'))
    await socket.nextJson()
    await setup.clock.advance(999)
    expect(setup.world.reads).toBe(1)
    await setup.clock.advance(1)
    // Unchanged, and sent all the same.
    expect((await socket.nextJson()).payload).toMatchObject({
      revision: 2,
      changed_fields: [],
      data: { polled: { name: 'Ada' } },
    })
    await setup.clock.advance(3000)
    const more = await socket.takeJson(3)
    expect(more.map(({ payload }) => payload.revision)).toEqual([3, 4, 5])
    // Events do not trigger what polls and states no triggers.
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(500)
    expect(setup.world.reads).toBe(5)
  })

  it('subscription active: poll interval elapses (strategy HASH_DIFF), result differs → next sent; when unchanged nothing is sent', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', 'query @live { hashed { name } }'))
    await socket.nextJson()
    await setup.clock.advance(3000)
    expect(setup.world.reads).toBe(4)
    await arrive()
    expect(socket.frames).toHaveLength(2)
    setup.world.users[0]!.name = 'Eve'
    await setup.clock.advance(1000)
    expect((await socket.nextJson()).payload).toMatchObject({
      revision: 2,
      is_initial: false,
      changed_fields: ['hashed.name'],
      data: { hashed: { name: 'Eve' } },
    })
  })

  it.each([
    ['POLLING', { triggers: ['User.update'] }],
    ['POLLING', { dependsOn: ['User'] }],
    ['HASH_DIFF', { triggers: ['User.update'] }],
  ] as const)(
    'subscription active: %s with %o, a matching event → re-executed beside the interval, next sent',
    async (strategy, stated) => {
      setup = await startLive({
        plugin: { fields: { polled: { strategy, pollIntervalMs: 5_000, ...stated } } },
      })
      const socket = await setup.ready()
      socket.sendJson(subscribe('a', 'query @live { polled { name } }'))
      await socket.nextJson()
      await setup.clock.advance(1_000)
      await setup.changeUser('1', { name: 'Eve' })
      await setup.clock.advance(500)
      const pushed = (await socket.nextJson()).payload
      expect(pushed).toMatchObject({ revision: 2, data: { polled: { name: 'Eve' } } })
      // What compares sends nothing where the event changed nothing.
      await setup.changeUser('1', { name: 'Eve' })
      await setup.clock.advance(500)
      expect(setup.world.reads).toBe(3)
      await arrive()
      const updates = strategy === 'HASH_DIFF' ? 2 : 3
      expect(socket.frames).toHaveLength(updates + 1)
      // The interval is kept.
      await setup.clock.advance(2_999)
      expect(setup.world.reads).toBe(3)
      await setup.clock.advance(1)
      expect(setup.world.reads).toBe(4)
    },
  )

  it('subscription active: client sends complete → ended, subscription unregistered', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    socket.sendJson({ id: 'a', type: 'complete' })
    socket.sendJson({ type: 'ping' })
    expect(await socket.nextJson()).toEqual({ type: 'pong' })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(1000)
    await arrive()
    expect(socket.frames).toHaveLength(3)
    expect(setup.world.reads).toBe(1)
  })

  it('subscription active: ttl_seconds elapses → ended, subscription removed, the server sends complete', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', 'query @live { expiring { name } }'))
    await socket.nextJson()
    await setup.clock.advance(59_999)
    expect(setup.plugin.store.stats().subscriptions).toBe(1)
    await setup.clock.advance(1)
    expect(setup.plugin.store.stats().subscriptions).toBe(0)
    const pongless = (await socket.takeJson(1))[0]
    expect(pongless).toEqual({ id: 'a', type: 'complete' })
  })

  it('any acknowledged state: client sends ping → unchanged, the server sends pong', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    socket.sendJson({ type: 'ping', payload: { n: 1 } })
    expect(await socket.nextJson()).toEqual({ type: 'pong', payload: { n: 1 } })
    expect(setup.plugin.store.stats().subscriptions).toBe(1)
  })
})

describe('timing of updates', () => {
  it('merges a burst into one update with batched true, debounce_ms after the last event', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    await setup.clock.advance(1000)
    for (const name of ['x', 'y', 'z']) {
      await setup.changeUser('1', { name })
      await setup.clock.advance(10)
    }
    await setup.clock.advance(39)
    expect(setup.world.reads).toBe(1)
    await setup.clock.advance(1)
    const { payload } = await socket.nextJson()
    expect(payload).toMatchObject({ revision: 2, batched: true })
    expect(payload.data.users.users[0].name).toBe('z')
    expect(setup.world.reads).toBe(2)
  })

  it('flushes max_wait_ms after the first event, however steadily more arrive', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    await setup.clock.advance(1000)
    for (let n = 0; n < 25; n++) {
      await setup.changeUser('1', { name: `n${n}` })
      await setup.clock.advance(20)
    }
    expect(setup.world.reads).toBe(2)
    expect((await socket.nextJson()).payload.data.users.users[0].name).toBe('n24')
  })

  it('flushes at once when max_batch_size events are collected', async () => {
    setup = await startLive({ plugin: { batch: { maxBatchSize: 5 } } })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    await setup.clock.advance(1000)
    for (let n = 0; n < 4; n++) await setup.changeUser('1', { name: `n${n}` })
    expect(setup.world.reads).toBe(1)
    await setup.changeUser('1', { name: 'full' })
    expect((await socket.nextJson()).payload).toMatchObject({ batched: true })
    expect(setup.world.reads).toBe(2)
  })

  it('never loses the trailing update to the throttle', async () => {
    setup = await startLive({ plugin: { batch: { debounceMs: 0 }, fields: { users: { throttleMs: 500 } } } })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    await setup.clock.advance(1000)
    await setup.changeUser('1', { name: 'first' })
    await setup.clock.advance(1)
    expect((await socket.nextJson()).payload.data.users.users[0].name).toBe('first')
    await setup.changeUser('1', { name: 'second' })
    await setup.changeUser('1', { name: 'third' })
    await setup.clock.advance(498)
    await arrive()
    expect(socket.frames).toHaveLength(3)
    await setup.clock.advance(2)
    expect((await socket.nextJson()).payload.data.users.users[0].name).toBe('third')
  })

  it('throttle_ms 0 means no batching: each event is an update of its own', async () => {
    setup = await startLive({ plugin: { fields: { users: { throttleMs: 0 } } } })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    await Promise.all([1, 2, 3].map((n) => setup.changeUser('1', { name: `n${n}` })))
    const updates = await socket.takeJson(3)
    expect(updates.map(({ payload }) => payload.revision)).toEqual([2, 3, 4])
    expect(updates.some(({ payload }) => payload.batched)).toBe(false)
    expect(setup.world.reads).toBe(4)
  })

  it('unbatched events beyond the queue’s bound are merged, and nothing is lost', async () => {
    setup = await startLive({ plugin: { batch: { maxBatchSize: 5 }, fields: { users: { throttleMs: 0 } } } })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    let open = (): void => {}
    setup.world.gate = new Promise<void>((resolve) => (open = resolve))
    await Promise.all(Array.from({ length: 50 }, (_, n) => setup.changeUser('1', { name: `n${n}` })))
    setup.world.gate = undefined
    open()
    await setup.clock.advance(1)
    await arrive()
    const last = socket.frames.at(-1)!.json().payload
    expect(last.data.users.users[0].name).toBe('n49')
    expect(setup.world.reads).toBeLessThanOrEqual(8)
  })
})
