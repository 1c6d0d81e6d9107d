import { afterEach, expect, it } from 'vitest'
import { startLive, subscribe, USERS, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

it('no more is executed for a client that does not read: operations wait, are ended, or answered when it does', async () => {
  setup = await startLive()
  // The buffers of the system take some ten of them.
  setup.world.users[0]!.name = 'x'.repeat(1_000_000)
  const unread = await setup.ready()
  unread.pause()
  for (let id = 0; id < 60; id++) unread.sendJson(subscribe(String(id), '{ user(id: 1) { name } }'))
  for (let id = 50; id < 60; id++) unread.sendJson({ id: String(id), type: 'complete' })
  const reader = await setup.ready()
  for (let turn = 0; turn < 100; turn++) {
    reader.sendJson(subscribe('a', '{ plain }'))
    expect((await reader.takeJson(2))[0]).toMatchObject({ payload: { data: { plain: 'plain' } } })
  }
  expect(setup.world.reads).toBeLessThan(40)
  unread.resume()
  const answers = await unread.takeJson(100, 20_000)
  expect(answers.filter(({ type }) => type === 'next')).toHaveLength(50)
  expect(setup.world.reads).toBe(50)
}, 40_000)

it('what a client ended before its turn is not executed', { retry: 2, timeout: 40_000 }, async () => {
  setup = await startLive()
  let open = (): void => {}
  setup.world.gate = new Promise<void>((resolve) => (open = resolve))
  const socket = await setup.ready()
  for (let id = 0; id < 90; id++) socket.sendJson(subscribe(String(id), '{ slow { name } }'))
  for (let id = 10; id < 90; id++) socket.sendJson({ id: String(id), type: 'complete' })
  socket.sendJson({ type: 'ping' })
  await socket.nextJson()
  open()
  const answers = await socket.takeJson(20, 20_000)
  expect(answers.filter(({ type }) => type === 'next')).toHaveLength(10)
  // So many are under way at once, and no other is begun.
  expect(setup.world.reads).toBe(32)
})

it('a live query that nobody reads does not run, and is true again once somebody does', async () => {
  // Its pings, which nobody answers, would end the socket.
  setup = await startLive({ ws: { keepAliveMs: 0 } })
  const nameOf = (turn: number): string => `${turn} ${'x'.repeat(400_000)}`
  const unread = await setup.ready()
  unread.sendJson(subscribe('a', USERS))
  await unread.nextJson()
  unread.pause()
  for (let turn = 1; turn <= 100; turn++) {
    await setup.changeUser('1', { name: nameOf(turn) })
    await setup.clock.advance(1_000)
  }
  expect(setup.plugin.store.stats().executions).toBeLessThan(60)
  unread.resume()
  const lastTurn = async (): Promise<string | undefined> => {
    await setup.clock.advance(2_000)
    return /"name":"(\d+) /.exec(unread.frames.at(-1)?.text ?? '')?.[1]
  }
  await expect.poll(lastTurn, { timeout: 20_000 }).toBe('100')
}, 40_000)
