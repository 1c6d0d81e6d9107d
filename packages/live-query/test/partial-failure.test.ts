import { createSchema, isAsyncIterable, type Plugin } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { startLive, subscribe, type LiveSetup } from './support.ts'
import type { LiveOptions } from '@vinyasa/core'

let setup: LiveSetup
afterEach(() => setup.close())

const QUARTER_HOUR_MS = 900_000

/** As a plugin that measures does: no two results have the same. */
function useCounting(): Plugin {
  let count = 0
  return {
    onExecute: () => ({
      onExecuteDone({ result, setResult }) {
        if (!isAsyncIterable(result)) setResult({ ...result, extensions: { run: ++count } })
      },
    }),
  }
}

/** A user whose `status` fails until `isBack`. */
async function startBroken(options: LiveOptions = {}, plugins: readonly Plugin[] = []) {
  const world = { runs: 0, isBack: false, name: 'Ada' }
  setup = await startLive({
    plugin: { fields: { user: options } },
    yoga: {
      plugins: [...plugins],
      schema: createSchema({
        typeDefs: 'type User { id: ID! name: String status: String } type Query { user: User }',
        resolvers: {
          Query: {
            user: () => {
              world.runs++
              return { id: '1', name: world.name }
            },
          },
          User: {
            status: () => {
              if (world.isBack) return 'ONLINE'
              throw new Error('away')
            },
          },
        },
      }),
    },
  })
  const socket = await setup.ready()
  socket.sendJson(subscribe('a', 'query @live { user { id name status } }'))
  await socket.nextJson()
  return { world, socket }
}

describe('a part that fails for ever', () => {
  it.each<LiveOptions>([
    {},
    { strategy: 'HASH_DIFF', pollIntervalMs: 1000 },
    { strategy: 'POLLING', pollIntervalMs: 1000 },
  ])('costs ever less, and nothing is sent: %o', async (options) => {
    const { world, socket } = await startBroken(options)
    await setup.clock.advance(15_000)
    expect(world.runs).toBeLessThanOrEqual(8)
    await setup.clock.advance(QUARTER_HOUR_MS)
    // Doubling to the poll interval times 100: 250 ms, 500 ms … 64 s, 100 s, 100 s …
    expect(world.runs).toBeLessThanOrEqual(25)
    expect(world.runs).toBeGreaterThanOrEqual(12)
    expect(socket.frames.filter((frame) => frame.json().id === 'a')).toHaveLength(1)
  })

  it.each<LiveOptions>([{}, { strategy: 'HASH_DIFF', pollIntervalMs: 1000 }])(
    'nothing is sent although a plugin adds to each result what no other has: %o',
    async (options) => {
      const { world, socket } = await startBroken(options, [useCounting()])
      await setup.clock.advance(15_000)
      expect(world.runs).toBeGreaterThan(3)
      expect(socket.frames.filter((frame) => frame.json().id === 'a')).toHaveLength(1)
      world.isBack = true
      await setup.clock.advance(30_000)
      expect(await socket.nextJson()).toMatchObject({
        payload: { data: { user: { status: 'ONLINE' } }, extensions: { run: expect.any(Number) } },
      })
    },
  )

  it('an event runs it at once, and the wait begins anew', async () => {
    const { world, socket } = await startBroken()
    await setup.clock.advance(QUARTER_HOUR_MS)
    const before = world.runs
    world.name = 'Eve'
    await setup.bus.publish([{ entityType: 'User', operation: 'update' }])
    await setup.clock.advance(700)
    expect(await socket.nextJson()).toMatchObject({
      payload: { data: { user: { name: 'Eve', status: null } } },
    })
    const afterEvent = world.runs
    expect(afterEvent).toBeGreaterThan(before)
    await setup.clock.advance(5_000)
    expect(world.runs).toBeGreaterThan(afterEvent + 2)
  })

  it('shows when it is back', async () => {
    const { world, socket } = await startBroken()
    await setup.clock.advance(15_000)
    world.isBack = true
    await setup.clock.advance(30_000)
    expect(await socket.nextJson()).toMatchObject({ payload: { data: { user: { status: 'ONLINE' } } } })
  })
})
