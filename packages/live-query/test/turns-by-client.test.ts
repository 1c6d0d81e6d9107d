import { afterEach, expect, it, vi } from 'vitest'
import { startLive, subscribe, USERS, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

it('sockets and runs are in the share of their client, a run for several clients in one of its own', async () => {
  setup = await startLive({ ws: { clientOf: ({ headers }) => String(headers['x-client']) } })
  const { turns } = setup.plugin.engine
  const spies = [vi.spyOn(turns, 'open'), vi.spyOn(turns, 'openWork')]
  /** Lines of messages, then lines of work. */
  const sharesSince = (): unknown[][] =>
    spies.map((open) => {
      const shares = open.mock.calls.map(([client]) => client)
      open.mockClear()
      return shares
    })
  const [first, second, other] = [
    await setup.ready(undefined, { 'x-client': 'a' }),
    await setup.ready(undefined, { 'x-client': 'a' }),
    await setup.ready(undefined, { 'x-client': 'b' }),
  ]
  const each = ['a', 'a', 'b']
  expect(sharesSince()).toEqual([each, each])
  async function change(): Promise<unknown[][]> {
    await setup.clock.advance(2_000)
    await setup.changeUser('1', { name: `${performance.now()}` })
    await setup.clock.advance(2_000)
    return sharesSince()
  }
  first.sendJson(subscribe('a', USERS))
  await first.nextJson()
  second.sendJson(subscribe('a', USERS))
  await second.nextJson()
  expect(sharesSince()).toEqual([[], ['a']])
  expect(await change()).toEqual([[], ['a']])
  other.sendJson(subscribe('a', USERS))
  await other.nextJson()
  sharesSince()
  expect(await change()).toEqual([[], [expect.any(AbortSignal)]])
})

it('without a word of the host a client is an address', async () => {
  setup = await startLive()
  const open = vi.spyOn(setup.plugin.engine.turns, 'open')
  await setup.ready()
  expect(open.mock.calls).toEqual([[expect.stringMatching(/127\.0\.0\.1$/)]])
})

it('a socket that breaks off before its turn harms nobody', async () => {
  setup = await startLive()
  const jobs: (() => void)[] = []
  const line = { run: (job: () => void) => void jobs.push(job), waiting: 0, close: () => {} }
  const open = vi.spyOn(setup.plugin.engine.turns, 'open').mockReturnValue(line)
  const broken = setup.connect().catch(String)
  await expect.poll(() => jobs.length).toBe(1)
  setup.server.closeAllConnections()
  const late = setup.connect().catch(String)
  await expect.poll(() => jobs.length).toBe(2)
  void setup.live.close()
  open.mockRestore()
  for (const job of jobs) job()
  expect(await late).toContain('503')
  expect(setup.live.sockets).toBe(0)
  void broken
})
