import { afterEach, describe, expect, it } from 'vitest'
import { startLive, subscribe, USERS, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

const STEPS = [-3_600_000, -60_000, 60_000, 3_600_000]

describe.each(STEPS)('the wall clock steps by %d ms', (step) => {
  it.each([USERS, 'query @live { polled { name } }', 'query @live { hashed { name } }'])(
    '%s: the next update is not late',
    async (query) => {
      setup = await startLive()
      const socket = await setup.ready()
      socket.sendJson(subscribe('a', query))
      const first = await socket.nextJson()
      setup.clock.stepWall(step)
      await setup.changeUser('1', { name: 'Eve' })
      await setup.clock.advance(1_100)
      const { payload } = await socket.nextJson()
      expect(JSON.stringify(payload.data)).toContain('Eve')
      // What is sent is the time of the wall.
      const steppedMs = (payload.timestamp - first.payload.timestamp) * 1000 - step
      expect(steppedMs).toBeLessThanOrEqual(2_000)
      expect(steppedMs).toBeGreaterThanOrEqual(-1_000)
    },
  )

  it('ttlSeconds is as long as ever', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', 'query @live { expiring { name } }'))
    await socket.nextJson()
    setup.clock.stepWall(step)
    await setup.clock.advance(59_000)
    expect(setup.plugin.store.stats().subscriptions).toBe(1)
    await setup.clock.advance(1_000)
    expect(await socket.nextJson()).toEqual({ id: 'a', type: 'complete' })
  })
})

it.each([2 ** 31, 2 ** 31 + 1, 2 ** 32, Number.MAX_SAFE_INTEGER])(
  'waits of %d ms do not end at once',
  async (ms) => {
    setup = await startLive({
      realTime: true,
      plugin: {
        fields: { user: { ttlSeconds: ms / 1000 }, polled: { strategy: 'POLLING', pollIntervalMs: ms } },
      },
      ws: { keepAliveMs: ms },
    })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', 'query @live { user(id: 1) { name } }'))
    await socket.nextJson()
    socket.sendJson(subscribe('b', 'query @live { polled { name } }'))
    await socket.nextJson()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 2, executions: 2 })
  },
)
