import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnProcess, startGrpcBackend, startRestBackend, temporaryFolder } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../../apps/gateway/dist/main.js', import.meta.url))
const INSTRUMENTED = new URL('support/instrumented.mjs', import.meta.url).href
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CLIENT = 'b7ad6b7169203331'
const PROTO = /* proto */ `
  syntax = "proto3";
  package shop.v1;
  message GetUserRequest { string id = 1; }
  message User { string name = 1; }
  service Users {
    rpc GetUser(GetUserRequest) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; }
  }
`

interface Span {
  readonly name: string
  readonly spanId: string
  readonly traceId: string
  readonly parent: string | undefined
}

it.each(['http2', 'grpc-js'])(
  "beside OpenTelemetry's instrumentations a request is one tree, each backend below its call, with %s",
  async (transport) => {
    const users = await startGrpcBackend({
      protos: PROTO,
      handlers: { 'shop.v1.Users/GetUser': async () => ({ name: 'Ada' }) },
    })
    const shop = await startRestBackend(() => ({ json: { name: 'Lamp' } }))
    onTestFinished(async () => {
      await users.stop()
      await shop.stop()
    })
    const folder = await temporaryFolder('traces')
    await writeFile(join(folder, 'users.proto'), PROTO)
    const config = join(folder, 'gateway.config.json')
    await writeFile(
      config,
      JSON.stringify({
        tracing: true,
        log: { format: 'json' },
        server: { port: 0 },
        grpc: { users: { endpoint: users.address, protoFiles: ['users.proto'], expose: 'all', transport } },
        rest: { shop: { baseUrl: shop.url, endpoints: [{ name: 'product', path: '/products/1' }] } },
      }),
    )
    const gateway = await spawnProcess({
      command: process.execPath,
      args: ['--import', INSTRUMENTED, MAIN, 'start', '--config', config],
      ready: /"url":"(http:[^"]+)"/,
    })
    onTestFinished(() => gateway[Symbol.asyncDispose]())

    const response = await fetch(gateway.ready?.[1] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${TRACE}-${CLIENT}-01` },
      body: '{"query":"query Both { getUser(id: \\"7\\") { name } product }"}',
    })
    expect(await response.json()).toEqual({ data: { getUser: { name: 'Ada' }, product: { name: 'Lamp' } } })

    const [logged = ''] = await gateway.waitForLine(/.*"msg":"request".*/)
    await gateway.waitForLine(/^SPAN .*"POST \/graphql"/)
    const spans = gateway.lines
      .filter((line) => line.startsWith('SPAN '))
      .map((line): Span => JSON.parse(line.slice('SPAN '.length)))
      .filter(({ traceId }) => traceId === TRACE)
    const idOf = (name: string): string | undefined => spans.find((span) => span.name === name)?.spanId
    expect(spans.map(({ name, parent }) => [name, parent]).sort()).toEqual([
      ['POST /graphql', CLIENT],
      ['query Both', idOf('POST /graphql')],
      ['shop.product', idOf('query Both')],
      ['shop.v1.Users/GetUser', idOf('query Both')],
    ])
    const { rawHeaders = [] } = shop.requests.find(({ method }) => method === 'GET') ?? {}
    const sent = rawHeaders.filter((_value, index) => rawHeaders[index - 1]?.toLowerCase() === 'traceparent')
    expect(sent).toEqual([`00-${TRACE}-${idOf('shop.product')}-01`])
    expect(users.calls.map(({ metadata }) => metadata['traceparent'])).toEqual([
      [`00-${TRACE}-${idOf('shop.v1.Users/GetUser')}-01`],
    ])
    expect(JSON.parse(logged)).toMatchObject({ trace_id: TRACE, span_id: idOf('POST /graphql') })
  },
)
