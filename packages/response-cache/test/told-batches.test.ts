import { createFakeClock, describeWithRedis, startNetwork, startRedis, waitUntil } from '@vinyasa/test-kit'
import type { BatchName } from '@vinyasa/invalidation'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openStore, type RedisStore } from '../src/redis/index.ts'
import { ToldBatches } from '../src/redis/told-batches.ts'

const own = (n: number): BatchName => ({ origin: 'a', n, isOwn: true })
const others = (n: number, origin = 'a'): BatchName => ({ origin, n, isOwn: false })

describe('batches that the store was told of', () => {
  const PATIENCE_MS = 100

  /** Settled only once the microtasks have. */
  async function stateOf(promise: Promise<boolean>): Promise<boolean | 'waits'> {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    return Promise.race([promise, Promise.resolve('waits' as const)])
  }

  it.each<[string, (told: ToldBatches) => void, boolean]>([
    ['the same tags', (told) => told.hear(others(1), ['User']), true],
    ['all', (told) => told.hear(others(1), 'all'), true],
    ['other tags', (told) => told.hear(others(1), ['User:1']), false],
  ])('%s told before and while it is waited for', async (_what, hear, isTold) => {
    const told = new ToldBatches(PATIENCE_MS, createFakeClock())
    const waits = told.has(others(1), ['User'])
    expect(await stateOf(waits)).toBe('waits')
    hear(told)
    expect(await waits).toBe(isTold)
    expect(await stateOf(told.has(others(1), ['User']))).toBe(isTold)
  })

  it('remembers the last 1,000 batches', async () => {
    const told = new ToldBatches(PATIENCE_MS, createFakeClock())
    for (let n = 1; n <= 1_001; n++) told.hear(others(n), ['User'])
    expect(await stateOf(told.has(others(2), ['User']))).toBe(true)
    expect(await stateOf(told.has(others(1), ['User']))).toBe('waits')
  })

  it('who wants all evicted is content with nothing less', async () => {
    const told = new ToldBatches(PATIENCE_MS, createFakeClock())
    told.hear(others(1), ['User'])
    expect(await told.has(others(1), 'all')).toBe(false)
  })

  it('nobody waits twice for a process that tells nothing, until it does', async () => {
    const clock = createFakeClock()
    const told = new ToldBatches(PATIENCE_MS, clock)
    const first = told.has(others(1), ['User'])
    await clock.advance(PATIENCE_MS)
    expect(await first).toBe(false)
    expect(await stateOf(told.has(others(2), ['User']))).toBe(false)
    expect(await stateOf(told.has(others(1, 'b'), ['User']))).toBe('waits')
    told.hear(others(3), ['User'])
    expect(await stateOf(told.has(others(4), ['User']))).toBe('waits')
  })

  it('what was heard before the store was lost counts no more, and nobody waits for it', async () => {
    const told = new ToldBatches(PATIENCE_MS, createFakeClock())
    told.hear(others(1), ['User'])
    const waits = told.has(others(2), ['User'])
    told.forget()
    expect(await stateOf(waits)).toBe(false)
    expect(await stateOf(told.has(others(1), ['User']))).not.toBe(true)
  })

  it('remembers a bounded number', async () => {
    const told = new ToldBatches(PATIENCE_MS, createFakeClock())
    for (let n = 1; n <= 1_001; n++) told.hear(others(n), ['User'])
    expect(await stateOf(told.has(others(1), ['User']))).toBe('waits')
    expect(await stateOf(told.has(others(2), ['User']))).toBe(true)
  })
})

describeWithRedis('a store that several processes tell of the same change', () => {
  interface Shared {
    readonly url: string
    open(url?: string): Promise<RedisStore>
    /** What was told, each of which all processes hear. */
    told(): Promise<number>
  }

  async function share(): Promise<Shared> {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const listener = new Redis(redis.url)
    onTestFinished(() => listener.disconnect())
    let count = 0
    listener.on('message', () => void count++)
    await listener.subscribe('{vinyasa:cache}:invalidations')
    return {
      url: redis.url,
      async open(url = redis.url) {
        const store = openStore({ url }, { commandMs: 2_000, heartbeatMs: 50 })
        onTestFinished(() => store.close())
        await store.ready(5_000)
        return store
      },
      async told() {
        await listener.ping()
        return count
      },
    }
  }

  async function put(store: RedisStore): Promise<void> {
    const version = (await store.read('x'))?.version ?? 0
    const entry = { storedAt: Date.now(), ttlMs: 60_000, staleMs: 0, body: Buffer.from('{"data":{}}') }
    expect(await store.write('x', { ...entry, tags: ['User'], version: 0 }, version)).toBe(true)
  }
  const has = async (store: RedisStore): Promise<boolean> => (await store.read('x'))?.entry !== undefined

  it.each<[string, (a: RedisStore, b: RedisStore) => Promise<unknown>]>([
    [
      'before the others hear of it',
      async (a, b) => {
        await a.invalidate(['User'], own(1))
        await b.invalidate(['User'], others(1))
      },
    ],
    [
      'after that',
      async (a, b) => {
        const waits = b.invalidate(['User'], others(1))
        await a.invalidate(['User'], own(1))
        await waits
      },
    ],
    [
      'and all',
      async (a, b) => {
        await Promise.all([b.invalidate(['User'], others(1)), a.invalidate('all', own(1))])
      },
    ],
  ])('is told once, where it was told %s', async (_when, tell) => {
    const { open, told } = await share()
    const [a, b] = [await open(), await open()]
    await put(b)
    await tell(a, b)
    expect(await has(b)).toBe(false)
    expect(await told()).toBe(1)
  })

  it('is told by those who hear of it, where whoever changed it did not', async () => {
    const { open, told } = await share()
    const [b, c] = [await open(), await open()]
    await put(b)
    await Promise.all([b.invalidate(['User'], others(1)), c.invalidate(['User'], others(1))])
    expect(await has(b)).toBe(false)
    expect(await told()).toBe(2)
  })

  it('is told by those who evict something else for it', async () => {
    const { open, told } = await share()
    const [a, b] = [await open(), await open()]
    await put(b)
    await Promise.all([a.invalidate(['User:1'], own(1)), b.invalidate(['User'], others(1))])
    expect(await has(b)).toBe(false)
    expect(await told()).toBe(2)
  })

  it('is told for each database, whose channels are one', async () => {
    const { url, open } = await share()
    const [a, b] = [await open(), await open(`${url}/1`)]
    await put(b)
    await Promise.all([a.invalidate(['User'], own(1)), b.invalidate(['User'], others(1))])
    expect(await has(b)).toBe(false)
  })

  it('is told when it is back, where it went away meanwhile', async () => {
    const { url, open } = await share()
    await using network = await startNetwork(Number(new URL(url).port))
    const [b, c] = [await open(`redis://127.0.0.1:${network.port}`), await open()]
    await put(c)
    const waits = b.invalidate(['User'], others(1))
    const beganAt = performance.now()
    network.cut()
    await waits
    // Nobody is heard any more: there is nothing to be patient for.
    expect(performance.now() - beganAt).toBeLessThan(1_000)
    expect(await has(c)).toBe(true)
    network.heal()
    await waitUntil(async () => (await b.read('y')) !== undefined, { timeoutMs: 10_000 })
    expect(await has(c)).toBe(false)
  })
})
