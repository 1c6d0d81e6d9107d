import { CLIENT, Ending } from '@vinyasa/core'
import {
  createDisposables,
  startRestBackend,
  waitUntil,
  type RecordedRequest,
  type RestAnswer,
} from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { NoPlace } from '../src/http/failures.ts'
import { createTransport } from '../src/http/client/undici-client.ts'
import { explain } from '../src/call/call.ts'
import { createRestConnector, useRestConnector, type RestConnectorOptions } from '../src/index.ts'
import { faultOf } from '../src/retry/faults.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const of = (client: string): object => ({ [CLIENT]: client })

/** An API that holds each request until the test lets it go. */
async function startBusy() {
  const held: { readonly path: string; readonly answer: (answer: RestAnswer) => void }[] = []
  const served: string[] = []
  const backend = cleanup.use(
    await startRestBackend(
      ({ rawUrl }: RecordedRequest) =>
        new Promise((answer) => void held.push({ path: decodeURIComponent(rawUrl.slice(1)), answer })),
    ),
  )
  return {
    url: backend.url,
    /** What it was asked for so far, in the order in which it was answered. */
    served,
    whenBusy: () => waitUntil(() => held.length > 0),
    /** Answers one request. */
    async serveNext(): Promise<void> {
      await waitUntil(() => held.length > 0)
      const { path, answer } = held.shift() as (typeof held)[number]
      served.push(path)
      answer({ json: { id: path } })
    },
  }
}

/** An operation has got as far as it does without its calls. */
async function asked(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}

type Busy = Awaited<ReturnType<typeof startBusy>>

function transportTo({ url }: Busy) {
  const transport = createTransport({
    origin: url,
    maxResponseBytes: 1_000,
    maxConnections: 1,
    maxConnectionAgeMs: 0,
    clock: { now: () => 0, wallNow: () => 0, setTimeout, clearTimeout: () => {} },
    env: {},
  })
  cleanup.use(() => transport.close())
  const send = (path: string, caller?: unknown, ending = new Ending()): Promise<unknown> => {
    const answer = transport.send(
      { method: 'GET', path: `/${path}`, headers: {}, body: undefined },
      ending,
      caller,
    )
    answer.catch(() => {})
    return answer
  }
  return { send, close: () => transport.close() }
}

describe('requests that wait for a connection', () => {
  it('take turns by client: one waits for one of another client that has a thousand', async () => {
    const busy = await startBusy()
    const { send } = transportTo(busy)
    for (let turn = 0; turn < 1_000; turn++) void send(`ann-${turn}`, of('ann'))
    await busy.whenBusy()
    void send('bob', of('bob'))
    void send('of-nobody')
    for (let turn = 0; turn < 5; turn++) await busy.serveNext()
    expect(busy.served).toEqual(['ann-0', 'ann-1', 'bob', 'of-nobody', 'ann-2'])
  })

  it('leave at once when they end, and never hold a connection', async () => {
    const busy = await startBusy()
    const { send } = transportTo(busy)
    const first = send('first', of('ann'))
    await busy.whenBusy()
    const ending = new Ending()
    const ended = Array.from({ length: 100 }, (_, turn) => send(`ended-${turn}`, of('ann'), ending))
    const last = send('last', of('ann'))
    const why = new Error('the client left')
    ending.abort(why)
    expect((await Promise.allSettled(ended)).map((end) => end.status === 'rejected' && end.reason)).toEqual(
      ended.map(() => why),
    )
    await busy.serveNext()
    await busy.serveNext()
    await Promise.all([first, last])
    expect(busy.served).toEqual(['first', 'last'])
  })

  it('are refused where half of the places are one client’s already; another client finds one', async () => {
    const busy = await startBusy()
    const { send } = transportTo(busy)
    void send('first', of('ann'))
    await busy.whenBusy()
    for (let turn = 0; turn < 16_384; turn++) void send(`ann-${turn}`, of('ann'))
    const refused = await send('one-too-many', of('ann')).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(NoPlace)
    const bob = send('bob', of('bob'))
    for (let turn = 0; turn < 3; turn++) await busy.serveNext()
    await bob
    expect(busy.served).toEqual(['first', 'ann-0', 'bob'])
  })

  it('all end when the transport is closed', async () => {
    const busy = await startBusy()
    const { send, close } = transportTo(busy)
    const all = Array.from({ length: 16_000 }, (_, turn) => send(`ann-${turn}`, of('ann')))
    await busy.whenBusy()
    await close()
    const ends = await Promise.allSettled(all)
    expect(ends.filter(({ status }) => status === 'fulfilled')).toEqual([])
  })
})

it('no place is this server’s own limit: not counted against the upstream, nothing was done', () => {
  const cause = new NoPlace()
  expect(faultOf(cause)).toMatchObject({ isCounted: false, repeats: 'none', outcome: 'refused' })
  const told = explain(cause, { connector: 'c', endpoint: 'item' })
  expect(told.extensions['code']).toBe('TOO_MANY_AT_ONCE')
  expect(told.message).toMatch(
    /calls of this client .* Send fewer or smaller operations at the same time, or try again/,
  )
})

describe('requests of operations', () => {
  async function world(options: Partial<RestConnectorOptions> = {}) {
    const busy = await startBusy()
    const connector = cleanup.use(
      createRestConnector('c', {
        baseUrl: busy.url,
        maxConnections: 1,
        endpoints: [
          {
            name: 'item',
            path: '/{id}',
            args: { id: 'ID!' },
            responseSchema: { typeName: 'Item', fields: { id: 'id' } },
          },
        ],
        ...options,
      }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    return {
      busy,
      async ask(query: string, signal: AbortSignal | null = null): Promise<any> {
        const response = await yoga.fetch('http://yoga/graphql', {
          method: 'POST',
          signal,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        })
        return response.json()
      },
    }
  }

  const itemsOf = (name: string, count: number): string =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: item(id: "${name}-${index}") { id }`).join(' ')} }`

  async function isServedWithin(turns: number, busy: Busy, id: string): Promise<boolean> {
    for (let turn = 0; turn < turns && !busy.served.includes(id); turn++) await busy.serveNext()
    return busy.served.includes(id)
  }

  it.each([true, false])(
    'wait in the turns of their operation, where nobody names a client; by plans: %s',
    async (plans) => {
      const { busy, ask } = await world({ plans })
      void ask(itemsOf('many', 150))
      await busy.whenBusy()
      const one = ask('{ item(id: "one") { id } }')
      await asked()
      await expect(isServedWithin(4, busy, 'one')).resolves.toBe(true)
      expect(await one).toEqual({ data: { item: { id: 'one' } } })
    },
  )

  it('that several share are served in the first turn of any of them', async () => {
    const { busy, ask } = await world()
    void ask(itemsOf('many', 100))
    await busy.whenBusy()
    const one = ask('{ item(id: "many-99") { id } }')
    await asked()
    await expect(isServedWithin(4, busy, 'many-99')).resolves.toBe(true)
    expect(await one).toEqual({ data: { item: { id: 'many-99' } } })
  })

  it('that several share are served when the first has left', async () => {
    const { busy, ask } = await world()
    const first = new AbortController()
    const left = ask(itemsOf('many', 100), first.signal).catch(() => {})
    await busy.whenBusy()
    const one = ask('{ item(id: "many-99") { id } }')
    await asked()
    first.abort()
    await left
    await expect(isServedWithin(2, busy, 'many-99')).resolves.toBe(true)
    expect(await one).toEqual({ data: { item: { id: 'many-99' } } })
  })
})
