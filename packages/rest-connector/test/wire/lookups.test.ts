import { Ending } from '@vinyasa/core'
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { createFakeClock } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { createTransport } from '../../src/http/client/undici-client.ts'

/** A server that says where it is. */
async function listen(host: string, port = 0): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (_, response) => response.end(host))
  await new Promise<void>((resolve) => void server.listen(port, host, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function world(maxConnectionAgeMs: number, maxConnections = 1) {
  const port = await listen('127.0.0.1')
  await listen('127.0.0.2', port)
  const clock = createFakeClock()
  const name = { addresses: ['127.0.0.1'] }
  const lookup: LookupFunction = (_, __, done) =>
    done(
      null,
      name.addresses.map((address) => ({ address, family: 4 })),
    )
  const transport = createTransport({
    origin: `http://users:${port}`,
    maxResponseBytes: 1_000,
    maxConnections,
    maxConnectionAgeMs,
    clock,
    env: {},
    lookup,
  })
  onTestFinished(() => transport.close())
  const ask = async (): Promise<string> => {
    const ending = new Ending()
    const { body } = await transport.send({ method: 'GET', path: '/', headers: {}, body: undefined }, ending)
    return body.toString()
  }
  return { name, ask, pass: (ms: number) => clock.advance(ms) }
}

it('a name that moves while the old address answers is followed when connections are old', async () => {
  const { name, ask, pass } = await world(30_000)
  expect(await ask()).toBe('127.0.0.1')
  name.addresses = ['127.0.0.2']
  await pass(29_999)
  expect(await ask()).toBe('127.0.0.1')
  await pass(1)
  expect(await ask()).toBe('127.0.0.2')
})

it('0 keeps connections however old they are', async () => {
  const { name, ask, pass } = await world(0)
  expect(await ask()).toBe('127.0.0.1')
  name.addresses = ['127.0.0.2']
  await pass(3_600_000)
  expect(await ask()).toBe('127.0.0.1')
})

it('connections go to all addresses in turn', async () => {
  const { name, ask } = await world(30_000, 8)
  name.addresses = ['127.0.0.1', '127.0.0.2']
  const places = await Promise.all(Array.from({ length: 8 }, ask))
  expect(places.filter((place) => place === '127.0.0.2')).toHaveLength(4)
})
