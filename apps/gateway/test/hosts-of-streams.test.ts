import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/core/pipeline'
import { createSchema, createYoga } from 'graphql-yoga'
import { waitUntil } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * What H3's `fromNodeHandler` does: the handler is over with its promise, unless something is piped into the response;
 * the host then ends what is left open.
 */
function hosted(handler: Handler): Handler {
  return async (request, response) => {
    await new Promise<void>((resolve) => {
      response.once('close', resolve).once('finish', resolve)
      response.once('pipe', (stream: Readable) =>
        resolve(new Promise<void>((closed) => void stream.once('close', closed))),
      )
      void Promise.resolve(handler(request, response)).then(() => resolve())
    })
    response.end()
  }
}

const state = { running: 0 }

async function start(plugins: readonly object[]) {
  const yoga = createYoga({
    schema: createSchema({
      typeDefs: 'type Query { hello: String late: String never: String } type Subscription { ticks: Int }',
      resolvers: {
        Query: {
          hello: () => 'world',
          late: () => sleep(50, 'late'),
          async never(_: unknown, __: unknown, { request }: { request: Request }) {
            state.running++
            await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
            state.running--
          },
        },
        Subscription: {
          ticks: {
            async *subscribe() {
              for (let ticks = 0; ticks < 3; ticks++) {
                await sleep(20)
                yield { ticks }
              }
            },
          },
        },
      },
    }),
    plugins: [...plugins],
    logging: false,
  })
  const server = createServer((request, response) => void hosted(createdOnce)(request, response))
  const createdOnce = createNodeHandler(yoga)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    uncachedReasons: createdOnce.uncachedReasons,
    ask: (query: string, accept: string, signal?: AbortSignal) =>
      fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query }),
        ...(signal && { signal }),
      }),
  }
}

const MULTIPART = 'multipart/mixed, application/json'

it.each([
  ['known queries', [useDeferSplitter(), usePipeline()]],
  ['all hooks', [useDeferSplitter()]],
])('deferred answers are whole behind a host that waits for what is piped: %s', async (_, plugins) => {
  const { ask } = await start(plugins)
  for (let times = 0; times < 8; times++) {
    const text = await (await ask('{ hello ... @defer { late } }', MULTIPART)).text()
    expect(text).toContain('"late":"late"')
    expect(text.trim()).toMatch(/---$/)
  }
})

it('event streams are whole behind it', async () => {
  const { ask } = await start([])
  const text = await (await ask('subscription { ticks }', 'text/event-stream')).text()
  expect(text).toContain('"ticks":2')
  expect(text).toContain('event: complete')
})

it('a client that leaves ends what is piped', async () => {
  const { ask } = await start([useDeferSplitter(), usePipeline()])
  for (let times = 0; times < 4; times++) {
    const leave = new AbortController()
    const response = await ask('{ hello ... @defer { never } }', MULTIPART, leave.signal)
    await response.body?.getReader().read()
    await waitUntil(() => state.running > 0)
    leave.abort()
    await waitUntil(() => state.running === 0)
  }
  expect(state.running).toBe(0)
})
