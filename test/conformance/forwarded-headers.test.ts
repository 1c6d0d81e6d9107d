import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import { createDisposables, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, describe, expect, it } from 'vitest'

// Every source passes the same headers on, and refuses the same.

const cleanup = createDisposables(afterAll)
const PROTO = `syntax = "proto3"; package p; message Nothing {} message Text { string text = 1; }
  service Texts { rpc GetText(Nothing) returns (Text); }`
const grpc = cleanup.use(
  await startGrpcBackend({ protos: PROTO, handlers: { 'p.Texts/GetText': async () => ({ text: 'a' }) } }),
)
const rest = cleanup.use(await startRestBackend(() => ({ json: 'a' })))

async function openGrpc(forwardHeaders: readonly string[]): Promise<Plugin> {
  const source = await createGrpcSource({
    name: 'g',
    protoText: { 'p.proto': PROTO },
    endpoint: grpc.address,
    methods: { 'p.Texts.GetText': { schema: { type: 'QUERY', name: 'getText' } } },
    forwardHeaders,
  })
  return useGrpcSource(cleanup.use(source)) as Plugin
}

async function openRest(forwardHeaders: readonly string[]): Promise<Plugin> {
  const connector = createRestConnector('r', {
    baseUrl: rest.url,
    endpoints: [{ name: 'getText', path: '/text', returnType: 'String' }],
    forwardHeaders,
  })
  return useRestConnector(cleanup.use(connector)) as Plugin
}

const SOURCES = [
  ['gRPC', openGrpc, () => grpc.calls.at(-1)?.metadata ?? {}],
  ['REST', openRest, () => rest.requests.at(-1)?.headers ?? {}],
] as const

describe.each(SOURCES)('forwardHeaders of %s', (kind, open, received) => {
  // RFC 9110, section 7.6.1; headers of the body; RFC 7540, section 3.2.1; what HTTP clients and gRPC set.
  it.each([
    'Accept-Encoding',
    'Connection',
    'Content-Encoding',
    'Content-Length',
    'Content-Type',
    'Expect',
    'Host',
    'HTTP2-Settings',
    'Keep-Alive',
    'Proxy-Authenticate',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Trailers',
    'Transfer-Encoding',
    'Upgrade',
    'User-Agent',
    'grpc-timeout',
    ':authority',
  ])('refuse %s with its place', async (name) => {
    const opened = (async () => open(['x-tenant', name]))()
    await expect(opened).rejects.toMatchObject({
      message: expect.stringContaining(`forwardHeaders must not contain "${name.toLowerCase()}"`),
      findings: [{ path: ['forwardHeaders', 1] }],
    })
  })

  it.each(['X-Tenant', 'cookie', 'accept-language', 'traceparent', 'baggage', 'x-forwarded-for'])(
    'pass %s on',
    async (name) => {
      const yoga = createYoga({ plugins: [await open([name])], logging: false })
      const query = kind === 'gRPC' ? '{ getText { text } }' : '{ getText }'
      const response = await yoga.fetch('http://yoga/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', [name]: 'v 1' },
        body: JSON.stringify({ query }),
      })
      expect(await response.json()).not.toHaveProperty('errors')
      expect([received()[name.toLowerCase()]].flat()).toEqual(['v 1'])
    },
  )
})
