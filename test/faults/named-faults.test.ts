import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AUDIENCE,
  describeWithRedis,
  freePort,
  makeCertificate,
  startIssuer,
  startRedis,
  startRestBackend,
  startTcpServer,
  waitUntil,
} from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startGateway, type RunningGateway } from './support/gateway.ts'

const PROTO = `
  syntax = "proto3";
  package test;
  import "graphql.proto";
  service Things { rpc Get(Id) returns (Thing) { option (graphql.schema) = { type: QUERY, name: "§" }; } }
  message Id { string id = 1; }
  message Thing { string id = 1; }`
const TIMES = 20

type Fields = Readonly<Record<string, unknown>>

/** Lines at `info` and above that are about a source or an issuer. */
function linesAbout(gateway: RunningGateway, about: Fields): Fields[] {
  return gateway.process.lines
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Fields] : []))
    .filter((line) => Object.entries(about).every(([name, value]) => line[name] === value))
}

function closing<T extends { [Symbol.asyncDispose](): Promise<void> }>(resource: T): T {
  onTestFinished(() => resource[Symbol.asyncDispose]())
  return resource
}

/** Starts a server with a certificate of its own; `asks`: it wants one of the client. */
async function startTls(protocol: 'https' | 'h2', asks = false) {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-tls-'))
  const { cert, key } = makeCertificate(folder)
  const options = { cert, key, requestCert: asks, rejectUnauthorized: asks }
  const server = protocol === 'h2' ? createSecureServer(options) : createTlsServer(options)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { address: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, cert }
}

const started = (gateway: Promise<RunningGateway>): Promise<RunningGateway> => gateway.then(closing)

async function ask(gateway: RunningGateway): Promise<void> {
  await Promise.all(Array.from({ length: TIMES }, (_, n) => gateway.query(`query Q${n} { thing { id } }`)))
}

/** Each gives the settings of a source whose backend has the fault. */
const REST: Readonly<Record<string, [() => Promise<object>, RegExp]>> = {
  'nobody listens': [async () => ({ baseUrl: `http://127.0.0.1:${await freePort()}` }), /ECONNREFUSED/],
  'nobody listens at any address of the name': [
    async () => ({ baseUrl: `http://localhost:${await freePort()}` }),
    /ECONNREFUSED/,
  ],
  'the name is unknown': [async () => ({ baseUrl: 'http://nobody.invalid' }), /nobody\.invalid/],
  'its certificate is not trusted': [
    async () => ({ baseUrl: (await startTls('https')).address }),
    /self-signed certificate/,
  ],
  'it does not answer': [
    async () => ({
      baseUrl: closing(await startRestBackend(() => ({ write: () => new Promise(() => {}) }))).url,
      timeoutMs: 300,
    }),
    /300 ms|time/i,
  ],
  'it is unavailable': [
    async () => ({ baseUrl: closing(await startRestBackend(() => ({ status: 503 }))).url }),
    /HTTP 503/,
  ],
  'it breaks the connection off': [
    async () => ({
      baseUrl: closing(await startRestBackend(() => ({ write: (response) => response.destroy() }))).url,
    }),
    /other side closed|socket|ECONNRESET|closed/i,
  ],
}

const GRPC: typeof REST = {
  'nobody listens': [async () => ({ endpoint: `127.0.0.1:${await freePort()}` }), /ECONNREFUSED/],
  'the name is unknown': [async () => ({ endpoint: 'nobody.invalid:443' }), /nobody\.invalid/],
  'its certificate is not trusted': [
    async () => ({ endpoint: (await startTls('h2')).address }),
    /self-signed certificate/,
  ],
  'it wants a client certificate': [
    async () => {
      const { address, cert } = await startTls('h2', true)
      return { endpoint: address, tls: { ca: cert } }
    },
    /certificate/,
  ],
  'it speaks another protocol': [
    async () => ({
      endpoint: `127.0.0.1:${closing(await startTcpServer({ answer: 'HTTP/1.1 400 Bad Request\r\n\r\n' })).port}`,
    }),
    /HTTP\/1\.1/,
  ],
  'it does not answer': [
    async () => ({ endpoint: `127.0.0.1:${closing(await startTcpServer()).port}` }),
    /no response|time|handshake|ms/,
  ],
}

describe.each([
  ['rest', REST],
  ['grpc', GRPC],
] as const)('the log at info names why a %s backend is down', (kind, faults) => {
  it.each(Object.entries(faults))('%s', async (_, [settings, cause]) => {
    const endpoint = {
      name: 'thing',
      path: '/thing',
      responseSchema: { typeName: 'Thing', fields: { id: 'string' } },
    }
    const source = {
      ...(kind === 'rest' ? { endpoints: [endpoint] } : { protoFiles: ['things.proto'] }),
      ...(await settings()),
    }
    const gateway = await started(
      startGateway({
        untilReady: false,
        files: { 'things.proto': PROTO.replace('§', 'thing') },
        config: { preset: 'production', [kind]: { shop: source } },
      }),
    )
    for (let round = 0; round < 3; round++) await ask(gateway)
    await waitUntil(() => linesAbout(gateway, { source: 'shop' }).length > 0)
    const { baseUrl = '', endpoint: host = baseUrl } = source as { baseUrl?: string; endpoint?: string }
    expect(linesAbout(gateway, { source: 'shop' })).toEqual([
      expect.objectContaining({
        level: 40,
        msg: `${kind} source "shop" is down`,
        address: host,
        cause: expect.stringMatching(cause),
        since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      }),
    ])
  })
})

it('says when a backend answers again, and when its circuit breaker opens and closes', async () => {
  const backend = closing(await startRestBackend(() => ({ json: { id: '1' } })))
  const gateway = await started(
    startGateway({
      config: {
        preset: 'production',
        rest: {
          shop: {
            baseUrl: backend.url,
            breaker: { halfOpenAfterMs: 500 },
            endpoints: [
              {
                name: 'thing',
                path: '/thing',
                responseSchema: { typeName: 'Thing', fields: { id: 'string' } },
              },
            ],
          },
        },
      },
    }),
  )
  await backend.stop()
  await waitUntil(async () => {
    await ask(gateway)
    return gateway.process.output().includes('the circuit breaker is open')
  })
  await backend.restart()
  await waitUntil(
    async () => {
      await gateway.query('{ thing { id } }')
      return gateway.process.output().includes('is up again')
    },
    { everyMs: 100 },
  )
  const said = gateway.process.lines.flatMap(
    (line) => /"msg":"(.*(?:source|breaker).*)"/.exec(line)?.[1] ?? [],
  )
  expect(said).toEqual([
    'rest source \\"shop\\" is down',
    'REST connector \\"shop\\": the circuit breaker is open',
    'REST connector \\"shop\\": the circuit breaker is closed',
    'rest source \\"shop\\" is up again',
  ])
  const [, up] = linesAbout(gateway, { source: 'shop' })
  expect(up).toMatchObject({
    level: 30,
    failures: expect.any(Number),
    since: expect.any(String),
    forMs: expect.any(Number),
  })
})

it.each(['hang', 'fail'] as const)('names a key server that does not answer: %s', async (how) => {
  const issuer = closing(await startIssuer())
  const token = issuer.token()
  issuer.behave(how)
  const gateway = await started(
    startGateway({
      files: { 'things.proto': PROTO.replace('§', 'thing') },
      untilReady: false,
      config: {
        preset: 'production',
        auth: { jwt: { issuers: [{ issuer: issuer.url, audience: AUDIENCE }] } },
        grpc: { shop: { endpoint: '127.0.0.1:1', protoFiles: ['things.proto'] } },
      },
    }),
  )
  await Promise.all(
    Array.from({ length: TIMES }, () =>
      gateway.query('{ __typename }', {}, { authorization: `Bearer ${token}` }),
    ),
  )
  await waitUntil(() => linesAbout(gateway, { issuer: issuer.url }).length > 0)
  expect(linesAbout(gateway, { issuer: issuer.url })).toEqual([
    expect.objectContaining({
      level: 40,
      msg: 'cannot read the keys of a token issuer; tokens of this issuer are refused with HTTP status 503 if the gateway has no matching key',
      cause: expect.stringMatching(
        how === 'hang' ? /received no keys within 5000 ms/ : /keys responded with HTTP status 500/,
      ),
      since: expect.any(String),
    }),
  ])
})

describeWithRedis('a Redis that goes away under load', () => {
  it('is one line for each of its uses, and one more when it is back', async () => {
    const redis = closing(await startRedis())
    const backend = closing(await startRestBackend(() => ({ json: { id: '1' } })))
    const gateway = await started(
      startGateway({
        config: {
          preset: 'production',
          redisUrl: redis.url,
          responseCache: { defaultTtlMs: 10 },
          rateLimit: { rules: [{ by: 'address', max: 100_000, windowSeconds: 60 }] },
          rest: {
            shop: {
              baseUrl: backend.url,
              endpoints: [
                {
                  name: 'thing',
                  path: '/thing',
                  responseSchema: { typeName: 'Thing', fields: { id: 'string' } },
                },
              ],
            },
          },
        },
      }),
    )
    await ask(gateway)
    await redis.kill()
    for (let round = 0; round < 10; round++) await ask(gateway)
    const warned = gateway.process.lines.filter((line) => /"level":[456]0/.test(line))
    const messages = warned.map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(messages.length).toBe(new Set(messages).size)
    // The bus, the response cache and the counters.
    expect(messages).toHaveLength(3)
    expect(warned.join('\n')).toContain(String(redis.port))
  })
})
