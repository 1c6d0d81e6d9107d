import { describeWith, startNats, startTcpServer, waitUntil, type NatsServer } from '@vinyasa/test-kit'
import { expect, it, type TestContext } from 'vitest'
import type { BrokerBus, InvalidationEvent } from '../src/index.ts'
import { type NatsInvalidationBusOptions, openNatsBus } from '../src/nats/nats-bus.ts'

const EVENT = { entityType: 'User', operation: 'update', entityId: '1' }
const LOGIN = { user: 'gateway', pass: 'right' }

const accounts = (permissions: string, password = LOGIN.pass): string =>
  `authorization { users = [
    { user: ${LOGIN.user}, password: "${password}", permissions: { ${permissions} } }
    { user: other, password: other }
  ] }`

interface Followed {
  readonly bus: BrokerBus
  /** Each state that it told, with the reason. */
  readonly told: string[]
  readonly errors: unknown[]
  readonly seen: InvalidationEvent[]
}

/** What a test starts, until it ends: the tests run beside each other, as they mostly wait. */
function stageOf({ onTestFinished }: TestContext) {
  return {
    async start(config = ''): Promise<NatsServer> {
      const nats = await startNats({ config })
      onTestFinished(() => nats[Symbol.asyncDispose]())
      return nats
    },
    follow({ url }: NatsServer, options: Partial<NatsInvalidationBusOptions> = {}): Followed {
      const [told, errors, seen]: [string[], unknown[], InvalidationEvent[]] = [[], [], []]
      const bus = openNatsBus(
        {
          servers: url,
          nats: LOGIN,
          onState: (state, reason) =>
            void told.push(reason instanceof Error ? `${state}: ${reason.message}` : state),
          onError: (error) => void errors.push(error),
          ...options,
        },
        { heartbeatMs: 50 },
      )
      onTestFinished(() => bus.close())
      bus.subscribe((events) => void seen.push(...events))
      return { bus, told, errors, seen }
    },
  }
}

/** Longer than several heartbeats, and tries to connect. */
const aWhile = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 700))

describeWith('nats-server', 'a bus whose NATS refuses it', () => {
  const denials = ['publish', 'subscribe'].flatMap((what) =>
    [`{ deny: ["vinyasa:invalidation"] }`, `{ deny: [">"] }`, `{ allow: ["orders.>"] }`].map(
      (rule) => [what, rule] as const,
    ),
  )
  it.concurrent.for(denials)(
    'the use of its subject (%s: %s) says so once, until it may',
    async ([what, rule], context) => {
      const { start, follow } = stageOf(context)
      const nats = await start(accounts(`${what}: ${rule}`))
      const { bus, told, errors, seen } = follow(nats)
      await waitUntil(() => told.length > 0)
      await bus.publish([EVENT])
      expect(seen).toContainEqual(EVENT)
      await aWhile()
      const verb = what === 'publish' ? 'Publish' : 'Subscription'
      expect(told).toEqual([
        expect.stringMatching(`disconnected: Permissions Violation for ${verb} to "vinyasa:invalidation"`),
      ])
      expect([bus.isInTouch, errors]).toEqual([false, []])
      nats.configure(accounts(''))
      await nats.restart()
      await bus.ready
      expect([told.length, told[1], bus.isInTouch]).toEqual([2, 'connected', true])
      const other = follow(nats)
      await other.bus.ready
      await other.bus.publish([EVENT])
      await waitUntil(() => seen.filter(({ entityType }) => entityType === 'User').length === 2)
    },
  )

  // What others reply to it goes over a subject of its own.
  it.concurrent.for(['subscribe', 'publish'])(
    'the use of the subjects below its own (%s) says so',
    async (what, context) => {
      const { start, follow } = stageOf(context)
      const nats = await start(accounts(`${what}: { allow: ["vinyasa:invalidation"] }`))
      const { told } = follow(nats)
      const verb = what === 'publish' ? 'Publish' : 'Subscription'
      const refused = new RegExp(`^disconnected: .* for ${verb} to "vinyasa:invalidation\\.[\\w-]+"`)
      const other = follow(nats, { nats: { user: 'other', pass: 'other' } })
      await other.bus.ready
      await waitUntil(async () => {
        await other.bus.publish([EVENT])
        return told.at(-1)?.startsWith('disconnected')
      })
      expect(told.at(-1)).toMatch(refused)
    },
  )

  it.concurrent('the use of its subject later on, when its server reads other permissions, and hears again when it may', async (context) => {
    const { start, follow } = stageOf(context)
    const nats = await start(accounts(''))
    const { bus, told, seen } = follow(nats)
    await bus.ready
    for (const what of ['publish', 'subscribe']) {
      told.length = 0
      nats.configure(accounts(`${what}: { deny: [">"] }`))
      nats.reload()
      await waitUntil(() => told.length > 0 && told.at(-1) !== 'connected')
      await aWhile()
      expect(told.filter((state) => state.startsWith('disconnected'))).toHaveLength(1)
      expect(bus.isInTouch).toBe(false)
      nats.configure(accounts(''))
      await nats.restart()
      await waitUntil(() => bus.isInTouch)
      const other = follow(nats)
      await other.bus.ready
      seen.length = 0
      await other.bus.publish([EVENT])
      await waitUntil(() => seen.some(({ entityType }) => entityType === 'User'))
    }
  })

  it.concurrent('the login says so once, and connects when it is the right one', async (context) => {
    const { start, follow } = stageOf(context)
    const nats = await start(accounts('', 'another'))
    const { bus, told } = follow(nats)
    await waitUntil(() => told.length > 0)
    await aWhile()
    expect(told).toEqual(['disconnected: Authorization Violation'])
    nats.configure(accounts(''))
    await nats.restart()
    await bus.ready
    expect(told.slice(1)).toEqual(['connected'])
  })

  // The client gives a connection up for good when it is refused twice.
  it.concurrent('the login of one that was connected is connected again when it is the right one again', async (context) => {
    const { start, follow } = stageOf(context)
    const nats = await start(accounts(''))
    const { bus, told } = follow(nats)
    await bus.ready
    nats.configure(accounts('', 'another'))
    await nats.restart()
    await waitUntil(() => told.length === 2)
    for (let times = 0; times < 3; times++) await aWhile()
    expect(told.length).toBe(2)
    nats.configure(accounts(''))
    await nats.restart()
    await waitUntil(() => bus.isInTouch, { timeoutMs: 5000 })
    expect(told[2]).toBe('connected')
  })

  // If this begins to be taken, the setting "nats.tls" of the gateway says too much.
  it.concurrent('a certificate for its address alone says so, and takes one for its name', async (context) => {
    const { follow } = stageOf(context)
    const [address, name] = ['IP:127.0.0.1', 'DNS:localhost']
    const reasons: string[] = []
    for (const tlsNames of [address, name]) {
      const nats = await startNats({ tlsNames })
      context.onTestFinished(() => nats[Symbol.asyncDispose]())
      const servers = tlsNames === address ? `nats://127.0.0.1:${nats.port}` : nats.url
      const { told } = follow(nats, { servers, nats: { tls: { ca: nats.ca } } })
      await waitUntil(() => told.length > 0)
      reasons.push(told[0] ?? '')
    }
    expect(reasons).toEqual([expect.stringMatching(/disconnected: .*altnames/), 'connected'])
  })

  it.concurrent('connections leaves nothing behind that tries again when it is closed', async (context) => {
    const { start, follow } = stageOf(context)
    const nats = await start()
    const { bus, told } = follow(nats, { nats: {} })
    await bus.ready
    await nats.kill()
    await using tcp = await startTcpServer({ port: nats.port })
    await waitUntil(() => told.length === 2 && tcp.connections > 0)
    bus.close()
    const tried = tcp.connections
    for (let times = 0; times < 3; times++) await aWhile()
    expect(tcp.connections - tried).toBeLessThan(2)
  })
})
