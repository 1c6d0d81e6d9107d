import { createFakeClock } from '@vinyasa/test-kit'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { expect, it, onTestFinished } from 'vitest'
import { useLiveQuery, type UseLiveQueryOptions } from '../src/index.ts'

const PARTS = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0'

const typeDefs = /* GraphQL */ `
  type Query {
    name: String!
  }
  type Subscription {
    ticks(fail: Boolean = false): Int!
    endless: Int!
    secret: Int!
  }
`

function startServer(options: UseLiveQueryOptions = {}, plugins: readonly Plugin[] = []) {
  const server = { name: 'Ada', open: 0 }
  const live = useLiveQuery({ defaults: { enabled: true, throttleMs: 0 }, ...options })
  const resolvers = {
    Query: { name: () => server.name },
    Subscription: {
      ticks: {
        async *subscribe(_: unknown, { fail }: { fail: boolean }) {
          yield { ticks: 1 }
          if (fail) throw new Error('a secret')
          yield { ticks: 'none' }
        },
      },
      endless: {
        subscribe() {
          server.open++
          let leave: (last: IteratorResult<unknown>) => void
          const left = new Promise<IteratorResult<unknown>>((resolve) => (leave = resolve))
          const done = { done: true, value: undefined } as const
          const steps = [Promise.resolve({ done: false, value: { endless: 1 } })]
          return {
            [Symbol.asyncIterator]: () => ({
              next: () => steps.pop() ?? left,
              async return() {
                server.open--
                leave(done)
                return done
              },
            }),
          }
        },
      },
      secret: { subscribe: () => Promise.reject(new Error('a secret')) },
    },
  }
  const yoga = createYoga({
    schema: createSchema({ typeDefs, resolvers }),
    plugins: [live, ...plugins],
    logging: false,
  })
  const ask = async (query: string, accept: string): Promise<Response> =>
    yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query }),
    })
  return Object.assign(server, { ask, live })
}

/** Parts one by one, each as soon as its delimiter is there; undefined: the closing one. */
async function* readParts(response: Response, leaving?: AbortSignal): AsyncGenerator<any> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  leaving?.addEventListener('abort', () => void reader.cancel())
  onTestFinished(() => reader.cancel().catch(() => {}))
  let text = ''
  while (!text.startsWith('--')) {
    const end = text.indexOf('\r\n--graphql')
    if (end < 0) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`The body ended without a closing delimiter: ${text}`)
      text += decoder.decode(value, { stream: true })
      continue
    }
    const part = text.slice(0, end)
    text = text.slice(end + '\r\n--graphql'.length)
    if (part !== '') yield JSON.parse(part.slice('\r\nContent-Type: application/json\r\n\r\n'.length))
  }
}

async function allOf(parts: AsyncIterable<any>): Promise<any[]> {
  const all: any[] = []
  for await (const part of parts) all.push(part)
  return all
}

const UNEXPECTED = { message: 'Unexpected error.' }

it('sends each result of a subscription as a part, and closes', async () => {
  const { ask } = startServer()
  const response = await ask('subscription { ticks }', `${PARTS}, application/json`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('multipart/mixed;boundary="graphql";subscriptionSpec=1.0')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(await allOf(readParts(response))).toMatchObject([
    { payload: { data: { ticks: 1 } } },
    { payload: { data: null, errors: [{ ...UNEXPECTED, path: ['ticks'] }] } },
  ])
})

it('says of a stream that fails that it failed, and closes', async () => {
  const { ask } = startServer()
  const parts = await allOf(readParts(await ask('subscription { ticks(fail: true) }', PARTS)))
  expect(parts[0]).toEqual({ payload: { data: { ticks: 1 } } })
  expect(JSON.stringify(parts[1])).not.toContain('secret')
  expect(parts.slice(1)).toMatchObject([{ payload: { errors: [UNEXPECTED] } }])
})

it('says so where a plugin throws between two results, too', async () => {
  const breaking: Plugin = {
    onResultProcess({ setResult }) {
      setResult({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('a secret')) }),
      } as never)
    },
  }
  const { ask } = startServer({}, [breaking])
  const parts = await allOf(readParts(await ask('subscription { ticks }', PARTS)))
  expect(parts).toEqual([{ payload: null, errors: [UNEXPECTED] }])
})

it('sends a subscription that does not begin as JSON where that is taken, else as the only part', async () => {
  const { ask } = startServer()
  for (const query of ['subscription { secret }', 'subscription { nothing }', 'subscription {']) {
    const asJson = await (await ask(query, `${PARTS}, application/json`)).json()
    expect(asJson).toMatchObject({ errors: [{}] })
    const parts = await allOf(readParts(await ask(query, PARTS)))
    expect(parts).toEqual([{ payload: asJson }])
    expect(JSON.stringify(parts)).not.toContain('a secret')
  }
})

it('beats each 5 s, and ends the source when the client leaves', async () => {
  const clock = createFakeClock()
  const server = startServer({ platform: { clock } })
  const leaving = new AbortController()
  const parts = readParts(await server.ask('subscription { endless }', PARTS), leaving.signal)
  await parts.next()
  const beat = parts.next()
  await clock.advance(5_000)
  expect((await beat).value).toEqual({})
  const another = parts.next()
  await clock.advance(5_000)
  expect((await another).value).toEqual({})
  expect(server.open).toBe(1)
  leaving.abort()
  await expect.poll(() => server.open).toBe(0)
})

it('follows a live query', async () => {
  const server = startServer()
  const parts = readParts(await server.ask('query @live { name }', `${PARTS}, application/json`))
  expect((await parts.next()).value.payload).toMatchObject({ data: { name: 'Ada' } })
  server.name = 'Eve'
  server.live.store.invalidate({ entityType: '*', operation: '*' })
  expect((await parts.next()).value.payload).toMatchObject({
    data: { name: 'Eve' },
    extensions: { liveQuery: { revision: 2 } },
  })
})

it('answers a live query whole where JSON is taken more gladly, and event streams as before', async () => {
  const { ask } = startServer()
  const whole = await ask('query @live { name }', `${PARTS};q=0.5, application/json`)
  expect(await whole.json()).toMatchObject({
    data: { name: 'Ada' },
    extensions: { liveQuery: { is_live: false } },
  })
  const events = await ask('subscription { ticks }', `text/event-stream, ${PARTS}`)
  expect(events.headers.get('content-type')).toBe('text/event-stream')
})

it.each(['application/json', 'multipart/mixed;subscriptionSpec=2.0', 'multipart/mixed'])(
  'refuses a subscription of whoever accepts %s, says what could be read, and ends the source',
  async (accept) => {
    const server = startServer()
    const response = await server.ask('subscription { endless }', accept)
    expect(response.status).toBe(406)
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'STREAM_NOT_ACCEPTABLE' } }],
    })
    await expect.poll(() => server.open).toBe(0)
  },
)
