import { Agent, request as httpRequest } from 'node:http'
import { connectRawWebSocket, startRestBackend, type RestBackend } from '@vinyasa/test-kit'
import { createInvalidationBus } from '@vinyasa/invalidation'
import type { RestEndpoint } from '@vinyasa/rest-connector'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'
import { serve, type GatewayServer } from '../src/server.ts'
import { post } from './support/gateway.ts'

const logger = await createLogger({ level: 'silent' })

async function start(backend: RestBackend, path = '/item'): Promise<GatewayServer> {
  const server = await serve(await gatewayFor(backend, path), { port: 0 })
  onTestFinished(() => server.close({ graceMs: 100 }))
  return server
}

function gatewayFor(backend: RestBackend, path: string): ReturnType<typeof createGateway> {
  return createGateway(
    {
      rest: {
        shop: {
          baseUrl: backend.url,
          noRetry: true,
          endpoints: [{ name: 'item', path, liveQuery: { enabled: true } }],
        },
      },
    },
    { baseDirectory: '/', logger },
  )
}

async function startBackend(): Promise<RestBackend> {
  const backend = await startRestBackend(() => ({ json: 'done' }))
  onTestFinished(() => backend.stop())
  return backend
}

function query(
  url: string,
  agent: Agent,
): Promise<{ status: number | undefined; connection: string | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${url}/graphql`,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (body += chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode, connection: response.headers.connection, body }),
        )
      },
    )
    request.on('error', reject)
    request.end(JSON.stringify({ query: '{ item }' }))
  })
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

describe('a graceful stop', () => {
  it('answers requests in flight with Connection: close, refuses new connections, leaves idle ones', async () => {
    const backend = await startBackend()
    const gate = deferred()
    const server = await start(backend)
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    await query(server.url, agent)
    backend.handle(async () => {
      await gate.promise
      return { json: 'late' }
    })
    const inFlight = query(server.url, agent)
    await expect.poll(() => backend.requests.length).toBe(2)
    const closed = server.close()
    const connect = (): Promise<string> =>
      fetch(`${server.url}/health/live`).then(
        () => 'accepted',
        () => 'refused',
      )
    await expect.poll(connect, { timeout: 10_000 }).toBe('refused')
    gate.resolve()
    expect(await inFlight).toEqual({ status: 200, connection: 'close', body: '{"data":{"item":"late"}}' })
    await closed
  })

  it('goes on listening until no more requests come', async () => {
    const backend = await startBackend()
    const server = await start(backend)
    await query(server.url, new Agent())
    const closed = server.close()
    for (let request = 0; request < 4; request++) {
      expect(await query(server.url, new Agent())).toMatchObject({ status: 200, connection: 'close' })
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    await closed
    await expect(query(server.url, new Agent())).rejects.toThrow(/ECONNREFUSED|ECONNRESET/)
  })

  it('destroys what is still open after the grace period', async () => {
    const backend = await startBackend()
    backend.handle(() => new Promise(() => {}))
    const server = await start(backend)
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const inFlight = query(server.url, agent)
    inFlight.catch(() => {})
    await expect.poll(() => backend.requests.length).toBe(1)
    await server.close({ graceMs: 20 })
    await expect(inFlight).rejects.toThrow('socket hang up')
  })
})

describe('replace', () => {
  it('serves new requests from the next gateway and ends those in flight on the old one', async () => {
    const backend = await startBackend()
    const gate = deferred()
    const server = await start(backend, '/old')
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    backend.handle(async ({ rawUrl }) => {
      if (rawUrl === '/old') await gate.promise
      return { json: rawUrl }
    })
    const old = query(server.url, agent)
    await expect.poll(() => backend.requests.length).toBe(1)
    const replaced = server.replace(await gatewayFor(backend, '/new'))
    expect((await query(server.url, agent)).body).toBe('{"data":{"item":"/new"}}')
    gate.resolve()
    expect((await old).body).toBe('{"data":{"item":"/old"}}')
    await replaced
  })
})

it('a mutation that ends on the replaced gateway evicts what the next one has cached', async () => {
  const backend = await startBackend()
  const gate = deferred()
  let value = 'old'
  backend.handle(async ({ method }) => {
    if (method === 'PUT') {
      await gate.promise
      value = 'new'
    }
    return { json: { id: '1', value } }
  })
  const bus = createInvalidationBus()
  const fields = { id: 'id!', value: 'string' }
  const endpoint = (name: string, method?: 'PUT'): RestEndpoint => ({
    name,
    path: '/thing',
    ...(method && { method }),
    responseSchema: { typeName: 'Thing', fields },
  })
  const create = (): ReturnType<typeof createGateway> =>
    createGateway(
      {
        responseCache: true,
        rest: { shop: { baseUrl: backend.url, endpoints: [endpoint('thing'), endpoint('setThing', 'PUT')] } },
      },
      { baseDirectory: '/', logger, bus },
    )
  const server = await serve(await create(), { port: 0 })
  onTestFinished(() => server.close({ graceMs: 100 }))
  const ask = async (text: string): Promise<unknown> =>
    (await post(`${server.url}/graphql`, { query: text })).json()

  const mutation = ask('mutation { setThing { value } }')
  await expect.poll(() => backend.requests.length).toBe(1)
  const replaced = server.replace(await create())
  expect(await ask('{ thing { value } }')).toEqual({ data: { thing: { value: 'old' } } })
  gate.resolve()
  expect(await mutation).toEqual({ data: { setThing: { value: 'new' } } })
  expect(await ask('{ thing { value } }')).toEqual({ data: { thing: { value: 'new' } } })
  await replaced
})

describe('live clients', () => {
  const LIVE = 'query @live { item }'

  async function openStream(url: string): Promise<{ first: string; ended: Promise<string> }> {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: LIVE }),
    })
    const decoder = new TextDecoder()
    const reader = response.body!.getReader()
    let first = ''
    while (!first.includes('data: {')) {
      const { value } = await reader.read()
      first += decoder.decode(value, { stream: true })
    }
    const rest = async (): Promise<string> => {
      let text = ''
      for (;;) {
        // A stream that is cut rejects.
        const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
        if (done) return text
        text += decoder.decode(value, { stream: true })
      }
    }
    return { first, ended: rest() }
  }

  async function openSocket(url: string): Promise<{ closed: Promise<{ code: number }> }> {
    const socket = await connectRawWebSocket(`${url}/graphql/live`)
    onTestFinished(() => socket[Symbol.asyncDispose]())
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: LIVE } })
    await socket.nextJson()
    return socket
  }

  it('begin anew on the next gateway: sockets closed with 1001, event streams cut without `complete`', async () => {
    const backend = await startBackend()
    backend.handle(({ rawUrl }) => ({ json: rawUrl }))
    const server = await start(backend, '/old')
    const [stream, socket] = [await openStream(server.url), await openSocket(server.url)]
    expect(stream.first).toContain('/old')
    await server.replace(await gatewayFor(backend, '/new'))
    expect((await socket.closed).code).toBe(1001)
    expect(await stream.ended).not.toContain('event: complete')
    expect((await openStream(server.url)).first).toContain('/new')
  })

  it('that come while the gateway stops are refused with 503, and hold back nothing', async () => {
    const backend = await startBackend()
    const server = await start(backend)
    await query(server.url, new Agent())
    const closed = server.close()
    const { status, headers } = await post(
      `${server.url}/graphql`,
      { query: LIVE },
      { accept: 'text/event-stream' },
    )
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    await closed
  })

  it('hold back no stop', async () => {
    const backend = await startBackend()
    const server = await start(backend)
    const [stream, socket] = [await openStream(server.url), await openSocket(server.url)]
    await server.close({ graceMs: 60_000 })
    expect((await socket.closed).code).toBe(1001)
    expect(await stream.ended).not.toContain('event: complete')
  })
})
