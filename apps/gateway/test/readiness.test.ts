import { startRestBackend, waitUntil } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { startGateway } from './support/gateway.ts'

const PROTO = `
syntax = "proto3";
package people.v1;
service People { rpc GetPerson(Person) returns (Person); }
message Person { string id = 1; }
`

async function api(name: string, required?: boolean) {
  const backend = await startRestBackend(() => ({ json: { id: '1' } }))
  onTestFinished(() => backend[Symbol.asyncDispose]())
  const source = {
    baseUrl: backend.url,
    required,
    noRetry: true,
    endpoints: [
      { name, path: `/${name}`, responseSchema: { typeName: name.toUpperCase(), fields: { id: 'id!' } } },
    ],
  }
  return { backend, source }
}

async function start(config: GatewayConfig) {
  const { server, endpoint } = await startGateway(config)
  const statusOf = async (path: string): Promise<number> => (await fetch(`${server.url}${path}`)).status
  return { endpoint, ready: () => statusOf('/health/ready'), live: () => statusOf('/health/live') }
}

it('stays 200 while a backend is down that is not required, whose fields alone fail', async () => {
  const [one, two] = [await api('one'), await api('two', false)]
  const people = {
    protoFiles: ['people.proto'],
    protoText: { 'people.proto': PROTO },
    endpoint: '127.0.0.1:1',
    expose: 'all' as const,
  }
  const { ready, endpoint } = await start({
    rest: { one: one.source, two: two.source },
    grpc: { people: people as never },
  })
  expect(await ready()).toBe(200)
  await one.backend[Symbol.asyncDispose]()
  // Readiness is remembered for a second.
  const until = performance.now() + 1500
  while (performance.now() < until) expect(await ready()).toBe(200)
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ one { id } two { id } }"}',
  })
  expect(await response.json()).toMatchObject({ data: { one: null, two: { id: '1' } } })
})

it('is 503 while a required backend is down, REST or gRPC, and liveness stays 200', async () => {
  const [one, two] = [await api('one', true), await api('two')]
  const { ready, live } = await start({ rest: { one: one.source, two: two.source } })
  expect(await ready()).toBe(200)
  await one.backend[Symbol.asyncDispose]()
  await waitUntil(async () => (await ready()) === 503, { awaited: 'readiness 503' })
  expect(await live()).toBe(200)

  const people = {
    protoFiles: ['people.proto'],
    protoText: { 'people.proto': PROTO },
    endpoint: '127.0.0.1:1',
    expose: 'all' as const,
    required: true,
  }
  const other = await start({ rest: { two: two.source }, grpc: { people: people as never } })
  expect(await other.ready()).toBe(503)
})
