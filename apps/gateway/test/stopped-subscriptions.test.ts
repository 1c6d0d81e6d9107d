import { connectRawWebSocket } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { createGateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'
import { serve, type GatewayServer } from '../src/server.ts'

const logger = await createLogger({ level: 'silent' })
const ONE = 'subscription { ticks }'
const LIVE = 'query @live { now }'

/** A gateway with a stream that gives one value, and then nothing for ever. */
async function start(): Promise<{ server: GatewayServer; next: typeof create; ended: () => number }> {
  let ended = 0
  const create = (): ReturnType<typeof createGateway> =>
    createGateway(
      {
        typeDefs: 'type Query { now: Int } type Subscription { ticks: Int }',
        resolvers: {
          Query: { now: () => 1 },
          Subscription: {
            ticks: {
              subscribe: () => {
                const values = [{ done: false as const, value: { ticks: 1 } }]
                return {
                  [Symbol.asyncIterator]() {
                    return this
                  },
                  next: async () => values.shift() ?? (await new Promise<never>(() => {})),
                  return: async () => (ended++, { done: true as const, value: undefined }),
                }
              },
            },
          },
        },
        liveQuery: { fields: { now: { enabled: true, pollIntervalMs: 60_000 } } },
      },
      { baseDirectory: '/', logger },
    )
  const server = await serve(await create(), { port: 0 })
  onTestFinished(() => server.close({ graceMs: 100 }))
  return { server, next: create, ended: () => ended }
}

const SSE = 'text/event-stream'
const PARTS = 'multipart/mixed;subscriptionSpec=1.0, application/json'

/** All that a stream says, once its first result has come. */
async function openStream(url: string, query: string, accept = SSE): Promise<Promise<string>[]> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query }),
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('"data":')) text += (await reader.read()).value ?? ''
  const rest = async (): Promise<string> => {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: ' cut' }))
      text += value ?? ''
      if (done) return text
    }
  }
  return [rest()]
}

async function openSocket(url: string, queries: Readonly<Record<string, string>>) {
  const socket = await connectRawWebSocket(`${url}/graphql`)
  onTestFinished(() => socket[Symbol.asyncDispose]())
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson()
  for (const [id, query] of Object.entries(queries)) {
    socket.sendJson({ id, type: 'subscribe', payload: { query } })
    expect(await socket.nextJson()).toMatchObject({ id, type: 'next' })
  }
  return socket
}

it('subscriptions are complete when the gateway stops, and their streams let go; live queries are not', async () => {
  const { server, ended } = await start()
  const [stream] = await openStream(server.url, ONE)
  const [parts] = await openStream(server.url, ONE, PARTS)
  const [live] = await openStream(server.url, LIVE)
  const [liveParts] = await openStream(server.url, LIVE, PARTS)
  const socket = await openSocket(server.url, { one: ONE, two: ONE, live: LIVE })
  const stopped = server.close()
  expect(await socket.takeJson(2)).toEqual([
    { id: 'one', type: 'complete' },
    { id: 'two', type: 'complete' },
  ])
  expect((await socket.closed).code).toBe(1001)
  expect(await stream).toMatch(/\n\nevent: complete\ndata:\n\n$/)
  expect(await parts).toMatch(/\r\n--graphql--\r\n$/)
  expect(await live).not.toContain('complete')
  expect(await liveParts).not.toContain('--graphql--')
  await stopped
  expect(ended()).toBe(4)
})

it('also where nothing but a socket is open', async () => {
  const { server } = await start()
  const socket = await openSocket(server.url, { one: ONE })
  const stopped = server.close()
  expect(await socket.takeJson(1)).toEqual([{ id: 'one', type: 'complete' }])
  expect((await socket.closed).code).toBe(1001)
  await stopped
})

it('on a reload they are not: their clients come back to the next gateway', async () => {
  const { server, next } = await start()
  const [stream] = await openStream(server.url, ONE)
  const [parts] = await openStream(server.url, ONE, PARTS)
  const socket = await openSocket(server.url, { one: ONE })
  await server.replace(await next())
  expect((await socket.closed).code).toBe(1001)
  expect(socket.frames.filter(({ text }) => text.includes('complete'))).toEqual([])
  expect(await stream).not.toContain('complete')
  expect(await parts).not.toContain('--graphql--')
})
