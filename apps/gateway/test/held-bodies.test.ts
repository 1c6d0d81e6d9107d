import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { createLogger } from '../src/logging/logger.ts'
import { post, startGateway } from './support/gateway.ts'
import { useLedger } from './support/ledger.ts'

const BUDGET = 4_000_000

async function start(config: GatewayConfig = {}) {
  const seen = { begun: 0, cancelled: 0 }
  let release = (): void => {}
  const released = new Promise<string>((resolve) => (release = () => resolve('released')))
  const errors: string[] = []
  const logger = await createLogger({ level: 'error', destination: { write: (line) => errors.push(line) } })
  const { server, endpoint } = await startGateway(
    {
      preset: 'production',
      typeDefs: 'type Query { hello: String hang: String }',
      resolvers: {
        Query: {
          hello: () => 'world',
          hang: (_: unknown, _args: unknown, { request }: { request: Request }) =>
            new Promise((resolve) => {
              seen.begun++
              void released.then(resolve)
              request.signal.addEventListener('abort', () => {
                seen.cancelled++
                resolve('cancelled')
              })
            }),
        },
      },
      ...config,
    },
    { maxAddressShare: 1, logger },
  )
  async function open(localAddress = '127.0.0.1'): Promise<Client> {
    const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', localAddress })
    onTestFinished(() => void socket.destroy())
    let [text, isClosed, failed] = ['', false, '']
    socket.on('error', ({ code }: NodeJS.ErrnoException) => (failed = code ?? 'unknown'))
    socket.setEncoding('latin1').on('data', (part: string) => (text += part))
    socket.on('close', () => (isClosed = true))
    await once(socket, 'connect')
    return { socket, received: () => text, isClosed: () => isClosed, failed: () => failed }
  }
  return { seen, errors, release, endpoint, url: server.url, open }
}

interface Client {
  readonly socket: Socket
  readonly received: () => string
  readonly isClosed: () => boolean
  readonly failed: () => string
}

const headOf = (length: string, path = '/graphql'): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nx-graphql-csrf: 1\r\nContent-Type: application/json\r\n${length}\r\n`
const requestOf = (query: string): string => {
  const body = JSON.stringify({ query })
  return `${headOf(`Content-Length: ${body.length}\r\n`)}${body}`
}
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const TINY = '1\r\n \r\n'.repeat(3_000)
const UNFINISHED = headOf('Content-Length: 1000000\r\n') + ' '.repeat(900_000)

describe('a body in chunks of one byte', () => {
  it.each([
    ['to GraphQL', headOf(CHUNKED), '400'],
    [
      'to /invalidate',
      headOf(`${CHUNKED}x-invalidate-secret: a secret of 25 letters\r\n`, '/invalidate'),
      '400',
    ],
    ['to nowhere', headOf(CHUNKED, '/nowhere'), '404'],
    ['compressed', headOf(`${CHUNKED}Content-Encoding: gzip\r\n`), '415'],
    [
      'without a header against requests of other sites',
      headOf(CHUNKED).replace('x-graphql-csrf: 1\r\n', ''),
      '400',
    ],
    ['with an expectation that is not met', headOf(`${CHUNKED}Expect: something\r\n`), '417'],
  ])('has a response, and its connection is closed: %s', async (_, head, status) => {
    const { open } = await start({ invalidate: { secret: 'a secret of 25 letters' } })
    const { socket, received, isClosed, failed } = await open()
    socket.write(head + TINY)
    await waitUntil(() => received().startsWith(`HTTP/1.1 ${status} `))
    // What follows is taken for a while, and not parsed.
    await waitUntil(() => {
      socket.write(TINY)
      return isClosed()
    })
    expect(failed()).toMatch(/^(?:|EPIPE|ECONNRESET)$/)
  })

  it('is refused after an earlier request of the connection, and not read until then', async () => {
    const ledger = useLedger(BUDGET)
    const { open, seen, release } = await start()
    const { socket, received, isClosed } = await open()
    socket.write(requestOf('{ hang }') + headOf(CHUNKED) + TINY)
    await waitUntil(() => seen.begun === 1)
    while (socket.writableLength < 1_000_000) {
      socket.write(TINY)
      await new Promise(setImmediate)
    }
    expect(ledger.bytes).toBeLessThan(1_000_000)
    release()
    await waitUntil(() => /^HTTP\/1.1 200 .*released.*HTTP\/1.1 400 /s.test(received()))
    await waitUntil(() => {
      socket.write(TINY)
      return isClosed()
    })
    expect(ledger.bytes).toBe(0)
  })
})

describe('over the budget', () => {
  it('the client with most unfinished bodies gets 503, others are answered', async () => {
    const ledger = useLedger(BUDGET)
    const { open, endpoint, errors } = await start()
    const other = await open('127.0.0.2')
    const body = JSON.stringify({ query: '{ hello }' }).padEnd(800_000)
    other.socket.write(headOf('Content-Length: 800000\r\n') + body.slice(0, 700_000))
    await waitUntil(() => ledger.bytes > 700_000)
    const many = await Promise.all(Array.from({ length: 20 }, () => open()))
    for (const { socket } of many) socket.write(UNFINISHED)
    await waitUntil(() => many.filter(({ received }) => received().includes('OVERLOADED')).length >= 16)
    expect(ledger.bytes).toBeLessThan(BUDGET)
    expect((await post(endpoint, { query: '{ hello }' })).status).toBe(200)
    other.socket.write(body.slice(700_000))
    await waitUntil(() => other.received().includes('world'))
    const dropped = many.filter(({ received }) => /^HTTP\/1.1 503 .*Retry-After: 1/s.test(received()))
    for (const { socket } of dropped) socket.end()
    await waitUntil(() => dropped.every(({ isClosed }) => isClosed()))
    expect(dropped.map(({ failed }) => failed()).filter(Boolean)).toEqual([])
    expect(errors).toEqual([])
  })

  it('bodies of requests that wait for others of their connection count', async () => {
    const ledger = useLedger(BUDGET)
    const { open, seen } = await start()
    const { socket, isClosed } = await open()
    socket.write(requestOf('{ hang }'))
    await waitUntil(() => seen.begun === 1)
    const body = JSON.stringify({ query: '{ hello }' }).padEnd(15_000)
    for (let request = 0; request < 20; request++) socket.write(headOf('Content-Length: 15000\r\n') + body)
    await waitUntil(() => ledger.bytes > 20 * 15_000)
    ledger.hold('other', BUDGET - 1)
    await waitUntil(isClosed)
    await waitUntil(() => seen.cancelled === seen.begun)
    expect(ledger.bytes).toBe(BUDGET - 1)
  })

  it('large requests in execution are cancelled', async () => {
    const ledger = useLedger(BUDGET)
    const { open, seen } = await start()
    const { socket, received, isClosed } = await open()
    const body = JSON.stringify({ query: '{ hang }', variables: { a: 'x'.repeat(500_000) } })
    const next = requestOf('{ hang }')
    socket.write(`${headOf(`Content-Length: ${body.length}\r\n`)}${body}${next.repeat(100)}`)
    await waitUntil(() => seen.begun >= 32)
    expect(ledger.bytes).toBeGreaterThan(1_000_000)
    const before = seen.begun
    // Not so much that all of the connection must go.
    ledger.hold('other', 3_000_000)
    await waitUntil(isClosed)
    expect(received()).toMatch(/^HTTP\/1.1 503 /)
    await waitUntil(() => seen.cancelled === seen.begun)
    expect(seen.begun).toBe(before)
  })

  it('new work gets 503 while nothing can be dropped, health probes do not', async () => {
    const ledger = useLedger(BUDGET)
    const { endpoint, url } = await start()
    const held = ledger.hold('somebody', BUDGET + 1)
    const refused = await post(endpoint, { query: '{ hello }' })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    held.release()
    expect((await post(endpoint, { query: '{ hello }' })).status).toBe(200)
  })
})
