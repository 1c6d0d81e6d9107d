import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { ignoreUpgrades } from '@vinyasa/live-query/ws'
import { waitUntil } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import type { ServeOptions } from '../src/server.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const BODY = '{"query":"{ __typename }"}'
const ANSWER = '{"data":{"__typename":"Query"}}'

/** As Java's HttpClient sends it. */
function post(upgrade: string, connection = 'Upgrade, HTTP2-Settings'): string {
  return `POST /graphql HTTP/1.1\r\nConnection: ${connection}\r\nContent-Length: ${BODY.length}\r\nHost: x\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: ${upgrade}\r\nContent-Type: application/json\r\nX-Apollo-Operation-Name: x\r\n\r\n`
}

async function open(
  schema: Pick<GatewayConfig, 'typeDefs' | 'resolvers'> = OWN_SCHEMA,
  options: ServeOptions = {},
): Promise<{ socket: Socket; received: () => string; url: string }> {
  const { server } = await startGateway({ preset: 'production', ...schema }, options)
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => (text += part))
  await once(socket, 'connect')
  return { socket, received: () => text, url: server.url }
}

const answers = (text: string): number => text.split(ANSWER).length - 1

it.each(['h2c', 'TLS/1.0', 'h2c, foo/2'])(
  'a request that would rather speak %s is answered as it is, and so are the next on its connection',
  async (upgrade) => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const { socket, received } = await open()
    socket.write(post(upgrade) + BODY)
    await waitUntil(() => answers(received()) === 1)
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    // Its body comes in parts, with a request behind it.
    socket.write(post(upgrade, 'keep-alive, Upgrade') + BODY.slice(0, 5))
    await setTimeout(20)
    socket.write(BODY.slice(5) + post(upgrade) + BODY)
    await waitUntil(() => answers(received()) === 3)
    for (let request = 4; request <= 30; request++) {
      socket.write(post(upgrade) + BODY)
      await waitUntil(() => answers(received()) === request, { everyMs: 1 })
    }
    expect(warnings).toEqual([])
  },
)

it('an answer behind another that takes longer than a connection may be idle is waited for', async () => {
  // It is told 100 ms, and has two seconds more: one of Node's, and one of ours.
  const { socket, received } = await open(
    {
      typeDefs: 'type Query { slow: String }',
      resolvers: { Query: { slow: () => setTimeout(2_600, 'done') } },
    },
    { keepAliveTimeoutMs: 100 },
  )
  const query = '{"query":"{ slow  }   "}'.padEnd(BODY.length)
  socket.write(post('h2c') + BODY + post('h2c') + query)
  await waitUntil(() => received().includes('"slow":"done"'), { timeoutMs: 12_000 })
  expect(answers(received())).toBe(1)
})

it('a WebSocket is still one', async () => {
  const { socket, received } = await open()
  socket.write(
    'GET /graphql/live HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
  )
  await waitUntil(() => received().length > 0)
  expect(received()).toMatch(/^HTTP\/1\.1 101 /)
})

it('clients that leave in the middle harm nobody', async () => {
  const { socket, url } = await open()
  socket.write(post('h2c') + BODY.slice(0, 5))
  await setTimeout(20)
  socket.resetAndDestroy()
  await setTimeout(20)
  expect((await fetch(`${url}/health/live`)).ok).toBe(true)
})

it.each([
  ['before it is looked at', false],
  ['while it waits behind an answer', true],
])('a connection that breaks off %s ends no process', async (_, isBehind) => {
  const server = createServer((request, response) => {
    ignored.track(request, response)
    setImmediate(() => {
      response.end('x')
      // As a write that fails does: told in the next turn, when the response has let go of the connection.
      if (isBehind) request.socket.destroy(new Error('reset'))
    })
  })
  const ignored = ignoreUpgrades(server)
  let upgrades = 0
  server.on('upgrade', (request, upgraded, head) => {
    upgrades++
    if (!isBehind) upgraded.destroy(new Error('reset'))
    ignored.serve(request, upgraded, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  client.write(isBehind ? `GET / HTTP/1.1\r\nHost: x\r\n\r\n${post('h2c')}${BODY}` : post('h2c') + BODY)
  await once(client.resume(), 'close')
  expect(upgrades).toBe(1)
})

it.each([2, 5, 40])(
  '%i of them behind each other are all answered, in order, whatever each takes',
  async (count) => {
    const { socket, received } = await open({
      typeDefs: 'type Query { turn(n: Int): Int }',
      resolvers: {
        Query: { turn: (_: unknown, { n }: { n: number }) => setTimeout(n % 3 === 0 ? 0 : 30 / (n % 3), n) },
      },
    })
    const bodies = Array.from({ length: count }, (_, n) => `{"query":"{ turn(n: ${n + 10}) }"}`)
    const requests = bodies.map(
      (body, n) =>
        // Some do not ask for it.
        post('h2c')
          .replace(`Content-Length: ${BODY.length}`, `Content-Length: ${body.length}`)
          .replace(n % 4 === 3 ? /(?:Connection|HTTP2-Settings|Upgrade): .*\r\n/g : /^$/, '') + body,
    )
    socket.write(requests.join(''))
    await waitUntil(() => received().split('"turn":').length === count + 1)
    const answered = [...received().matchAll(/"turn":(\d+)/g)].map(([, n]) => Number(n))
    expect(answered).toEqual(bodies.map((_, n) => n + 10))
  },
)
