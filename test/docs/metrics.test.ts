import { connectRawWebSocket, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { post, startGateway, type RunningGateway } from '../../apps/gateway/test/support/gateway.ts'
import { metricsReference } from '../../docs/src/metrics-reference.ts'

interface Metric {
  readonly type: string
  readonly help: string
  readonly labels: readonly string[]
}

/** Returns the metrics of a scrape, with the labels of their samples. */
function metricsIn(text: string): Record<string, Metric> {
  const lines = text.split('\n')
  const names = lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])
  return Object.fromEntries(
    names.map((name) => {
      const suffix = '(?:_bucket|_sum|_count)?'
      const samples = lines.flatMap(
        (line) => new RegExp(`^${name}${suffix}\\{(.*)\\} \\S+$`).exec(line)?.[1] ?? [],
      )
      const labels = new Set(
        samples.flatMap((one) => [...one.matchAll(/(\w+)="/g)].map(([, label]) => label)),
      )
      labels.delete('le')
      return [
        name,
        {
          type: new RegExp(`^# TYPE ${name} (.*)$`, 'm').exec(text)?.[1] ?? '',
          help: new RegExp(`^# HELP ${name} (.*)$`, 'm').exec(text)?.[1] ?? '',
          labels: [...labels].filter((label) => label !== undefined).toSorted(),
        },
      ]
    }),
  )
}

/** Returns the metrics in the first table of the page. */
function metricsOnPage(): Record<string, Metric> {
  const [table = ''] = metricsReference().split('\n## ')
  const rows = [...table.matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) \| (\w+) \| (.*) \|$/gm)]
  return Object.fromEntries(
    rows.map(([, name = '', type = '', labels = '', , help = '']) => [
      name,
      { type, help, labels: [...labels.matchAll(/\w+/g)].map(([label]) => label).toSorted() },
    ]),
  )
}

const PROTO = /* proto */ `
  syntax = "proto3";
  package shop.v1;
  message GetUserRequest { string id = 1; }
  message User { string id = 1; string name = 2; }
  service Users {
    rpc GetUser(GetUserRequest) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; }
  }
`

/** Starts a gateway with both kinds of sources. The REST backend fails the first request. */
async function start(): Promise<RunningGateway> {
  const users = await startGrpcBackend({
    protos: PROTO,
    handlers: { 'shop.v1.Users/GetUser': async ({ id }) => ({ id, name: 'Ada' }) },
  })
  const shop = await startRestBackend(() => ({ json: { id: '1', name: 'Lamp' } }))
  onTestFinished(async () => {
    await users.stop()
    await shop.stop()
  })
  shop.answerNext({ status: 503 })
  return startGateway({
    metrics: true,
    responseCache: true,
    cost: { max: 100 },
    grpc: { users: { endpoint: users.address, protoText: { 'users.proto': PROTO }, expose: 'all' } },
    rest: {
      shop: {
        baseUrl: shop.url,
        retry: { initialBackoffMs: 1 },
        breaker: true,
        endpoints: [
          {
            name: 'product',
            path: '/products/{id}',
            args: { id: 'ID!' },
            responseSchema: { typeName: 'Product', fields: { id: 'id!', name: 'string' } },
            liveQuery: { enabled: true },
          },
        ],
      },
    },
  })
}

describe('the metrics page', () => {
  it('lists the metrics of a scrape with their types, labels and help texts', async () => {
    const { endpoint, server } = await start()
    const query = 'query @live { product(id: 1) { name } }'
    await (await post(endpoint, { query: '{ product(id: 1) { name } getUser(id: "7") { name } }' })).text()
    await (await post(endpoint, { query: '{ unknown }' })).text()
    const socket = await connectRawWebSocket(`${endpoint}/live`)
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ id: '1', type: 'subscribe', payload: { query } })
    await socket.nextJson()
    const scraped = await (await fetch(`${server.url}/metrics`)).text()
    await socket.close()
    expect(Object.keys(metricsIn(scraped)).length).toBeGreaterThan(15)
    expect(metricsOnPage()).toEqual(metricsIn(scraped))
  })

  it('describes the values of all labels', () => {
    const page = metricsReference()
    for (const [name, { labels }] of Object.entries(metricsOnPage()))
      for (const label of labels)
        expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\| \`${label}\` \\| \\S`, 'm'))
  })
})
