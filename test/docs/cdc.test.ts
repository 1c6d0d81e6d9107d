import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  codeBlocks,
  describeWith,
  describeWithRedis,
  spawnProcess,
  startNats,
  startRedis,
  waitUntil,
  type SpawnedProcess,
} from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startGateway } from '../../apps/gateway/test/support/gateway.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SECRET = 'not in production'
const programs = codeBlocks(readFileSync(`${ROOT}docs/recipes/change-data-capture.md`, 'utf8')).filter(
  ({ file }) => file?.endsWith('.mjs'),
)

/** The programs of the page in a folder of their own, with addresses of this run. */
function writePrograms(addresses: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-cdc-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(`${ROOT}packages/invalidation/node_modules`, join(folder, 'node_modules'))
  for (const { file = '', code } of programs) {
    const placed = Object.entries(addresses).reduce((text, [from, to]) => text.replaceAll(from, to), code)
    writeFileSync(join(folder, file), placed)
  }
  return folder
}

interface Message {
  readonly topic: string
  readonly key: string | null
  readonly value: string | null
}
type Row = Readonly<Record<string, unknown>>

const OPERATIONS = { c: 'create', u: 'update', r: 'update', d: 'delete' } as const

const row = fc.record({
  id: fc.oneof(fc.nat(), fc.uuid()),
  name: fc.string(),
  op: fc.string(),
  source: fc.string(),
})
const change = fc
  .record({
    op: fc.constantFrom('c', 'u', 'r', 'd'),
    before: row,
    after: row,
    table: fc.constantFrom('products', 'users', 'others'),
    keepsBefore: fc.boolean(),
  })
  .map(({ op, before, after, keepsBefore, ...rest }) => ({
    ...rest,
    op: op as keyof typeof OPERATIONS,
    before: op === 'd' || (op === 'u' && keepsBefore) ? before : null,
    after: op === 'd' ? null : after,
  }))

/** Every form that a change may have on its way. */
const form = fc.record({
  isWithSchema: fc.boolean(),
  isFlat: fc.boolean(),
  addsFields: fc.boolean(),
  hasKey: fc.boolean(),
  deletes: fc.constantFrom('rewrite', 'tombstone'),
})

describe('invalidationsOf', async () => {
  const source = programs.find(({ file }) => file === 'cdc.mjs')
  const at = `data:text/javascript,${encodeURIComponent(source?.code ?? '')}`
  const { invalidationsOf } = (await import(/* @vite-ignore */ at)) as {
    invalidationsOf(message: Message): { entityType: string; operation: string; entityId?: string }[]
  }
  const text = (payload: unknown, isWithSchema: boolean): string =>
    JSON.stringify(isWithSchema ? { schema: { type: 'struct' }, payload } : payload)

  it('names every row that a change was about, in whichever form it comes', () => {
    fc.assert(
      fc.property(change, form, ({ op, before, after, table }, its) => {
        const { isWithSchema, isFlat, addsFields, hasKey, deletes } = its
        const image = (after ?? before) as Row
        const topic = `shop.public.${table}`
        const isTombstone = isFlat && op === 'd' && deletes === 'tombstone'
        const key = hasKey || isTombstone ? text({ id: image['id'] }, isWithSchema) : null
        const flat = {
          ...image,
          ...(addsFields && { __op: op, __table: table }),
          ...(op === 'd' && { __deleted: 'true' }),
        }
        const whole = { before, after, op, source: { connector: 'postgresql', db: 'shop', table }, ts_ms: 1 }
        const value = isTombstone ? null : text(isFlat ? flat : whole, isWithSchema)
        // Of a flat message nobody can tell a row that is new, unless it says so.
        const isUntold = isFlat && op !== 'd' && !addsFields
        const operation = isUntold ? 'update' : OPERATIONS[op]
        const ids = new Set(
          [isFlat ? undefined : before?.id, image['id']].filter((id) => id !== undefined).map(String),
        )
        const entityType = { products: 'Product', users: 'User', others: undefined }[table]
        const expected = [...ids].map((entityId) => ({ entityType, operation, entityId }))
        const byId = (list: { entityId?: string }[]): unknown[] =>
          list.toSorted((a, b) => String(a.entityId).localeCompare(String(b.entityId)))
        expect(byId(invalidationsOf({ topic, key, value }))).toEqual(entityType ? byId(expected) : [])
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    [
      'an emptied table',
      { op: 't', before: null, after: null, source: { connector: 'mysql', table: 'products' } },
      'delete',
    ],
    [
      'a row without the column',
      { op: 'd', before: { sku: 1 }, after: null, source: { connector: 'mysql', table: 'products' } },
      'delete',
    ],
    [
      'a document of MongoDB',
      { op: 'u', after: '{"_id": 1}', source: { connector: 'mongodb', collection: 'products' } },
      'update',
    ],
  ])('says of %s that any of the type has changed', (_, payload, operation) => {
    const said = invalidationsOf({ topic: 'shop.public.products', key: null, value: JSON.stringify(payload) })
    expect(said).toEqual([{ entityType: 'Product', operation }])
  })

  it.each([
    ['a message of the log', 'shop.message', { op: 'm', source: { connector: 'postgresql', table: '' } }],
    ['a heartbeat', '__debezium-heartbeat.shop', { ts_ms: 1 }],
    [
      'a changed schema',
      'shop',
      { source: { connector: 'mysql', table: 'products' }, ddl: 'ALTER TABLE products', ts_ms: 1 },
    ],
    ['a transaction', 'shop.transaction', { status: 'BEGIN', id: '571' }],
  ])('says nothing of %s', (_, topic, payload) => {
    expect(invalidationsOf({ topic, key: null, value: JSON.stringify(payload) })).toEqual([])
  })
})

/** A gateway with one product in its cache, whose price others change. */
async function startShop() {
  const product = { id: '1', price: 10 }
  const { server, endpoint } = await startGateway(
    {
      typeDefs: 'type Product { id: ID! price: Int } type Query { products: [Product!] }',
      resolvers: { Query: { products: () => [product] } },
      dependencies: { 'Query.products': { variesBy: [] } },
      responseCache: true,
      invalidate: { secret: SECRET },
    },
    { baseDirectory: ROOT },
  )
  async function price(): Promise<number> {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ products { id price } }"}',
    })
    return ((await response.json()) as any).data.products[0].price
  }
  return { url: server.url, product, price }
}

const update = (price: number): string =>
  JSON.stringify({
    before: null,
    after: { id: 1, price },
    op: 'u',
    source: { connector: 'postgresql', table: 'products' },
    ts_ms: 1,
  })
const TOPIC = 'shop.public.products'
const PATIENCE = { timeoutMs: 20_000 }

async function follow(folder: string, file: string, secret = SECRET): Promise<SpawnedProcess> {
  const follower = await spawnProcess({
    command: process.execPath,
    args: [file],
    cwd: folder,
    env: { INVALIDATE_SECRET: secret },
    ready: /^follows/,
  })
  onTestFinished(() => follower[Symbol.asyncDispose]())
  return follower
}

describeWithRedis('changes that come by a stream of Redis', () => {
  it('reach the cache, also those that could not be told at first', async () => {
    const shop = await startShop()
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const folder = writePrograms({ 'http://localhost:4000': shop.url, 'redis://localhost:6379': redis.url })
    const client = new Redis(redis.url)
    onTestFinished(() => client.disconnect())
    const says = (price: number): Promise<unknown> => client.xadd(TOPIC, '*', '{"id":1}', update(price))

    const first = await follow(folder, 'follow-redis.mjs')
    expect(await shop.price()).toBe(10)
    shop.product.price = 11
    expect(await shop.price()).toBe(10)
    await says(11)
    await waitUntil(async () => (await shop.price()) === 11, PATIENCE)
    // A tombstone as Debezium Server writes it.
    shop.product.price = 12
    await client.xadd(TOPIC, '*', '{"id":1}', 'default')
    await waitUntil(async () => (await shop.price()) === 12, PATIENCE)
    await first.kill()

    // One that the gateway does not believe ends, and what it had read is told by the next.
    const refused = await follow(folder, 'follow-redis.mjs', 'not the right secret')
    shop.product.price = 13
    await says(13)
    expect((await refused.exited).code).not.toBe(0)
    expect(refused.output()).toContain('The gateway responded with 401')
    expect(await shop.price()).toBe(12)
    await follow(folder, 'follow-redis.mjs')
    await waitUntil(async () => (await shop.price()) === 13, PATIENCE)
    await waitUntil(async () => Number((await client.xpending(TOPIC, 'gateway'))[0]) === 0, PATIENCE)
  })
})

describeWith('nats-server', 'changes that come over NATS', () => {
  it('reach the cache, and anything may have changed before', async () => {
    const shop = await startShop()
    const nats = await startNats()
    onTestFinished(() => nats[Symbol.asyncDispose]())
    const folder = writePrograms({ 'http://localhost:4000': shop.url, 'nats://localhost:4222': nats.url })
    expect(await shop.price()).toBe(10)
    shop.product.price = 11
    await follow(folder, 'follow-nats.mjs')
    expect(await shop.price()).toBe(11)
    shop.product.price = 12
    expect(await shop.price()).toBe(11)
    const body = update(12)
    const socket = connect(Number(new URL(nats.url).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.write(`CONNECT {"verbose":false}\r\nPUB ${TOPIC} ${Buffer.byteLength(body)}\r\n${body}\r\n`)
    await waitUntil(async () => (await shop.price()) === 12, PATIENCE)
  })
})
