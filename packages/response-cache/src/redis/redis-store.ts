import { backgroundClock, sleep, systemClock } from '@vinyasa/base'
import { randomUUID } from 'node:crypto'
import type { Redis, RedisOptions } from 'ioredis'
import type { CacheEntry } from '../store/entry.ts'
import { storeUnavailable } from '../errors.ts'
import { createUndeliveredInvalidations, type Delivery } from '../store/undelivered-invalidations.ts'
import type { RemoteEvent, RemoteStore } from '../store/remote-store.ts'
import type { Tags } from '../store/tags.ts'
import { decodeMeta, decodeTags, encodeMeta } from './codec.ts'
import type { ConnectRedis, RedisStoreOptions } from './options.ts'
import { beatScript, invalidateScript, readScript, writeScript } from './scripts.ts'

declare module 'ioredis' {
  interface RedisCommander {
    vinyasaReadBuffer(prefix: string, key: string): Promise<(Buffer | null)[]>
    vinyasaWrite(prefix: string, ...args: (string | number | Buffer)[]): Promise<number>
    vinyasaInvalidate(prefix: string, ...args: (string | number)[]): Promise<number>
    vinyasaBeat(prefix: string, ...args: (string | number)[]): Promise<number>
  }
}

/** Whoever hears it was not the one who said it. */
const NOBODY = 'nobody'

/** A Redis store, and how to wait for its first connection. */
export interface RedisStore extends RemoteStore {
  /** Resolves when Redis answered once; rejects with RESPONSE_CACHE_UNAVAILABLE when it does not within `timeoutMs`. */
  ready(timeoutMs?: number): Promise<void>
  /** Values found in the cache's keys that the cache did not write; they were removed. */
  readonly poisoned: number
}

/** The store on connections that others open: whoever has no Redis loads none. */
export function createStoreOn(connect: ConnectRedis, options: RedisStoreOptions): RedisStore {
  const { url, prefix = '{vinyasa:cache}:', commandTimeoutMs = 140 } = options
  const {
    heartbeatMs = 1_000,
    rememberMs = 86_400_000,
    undelivered = createUndeliveredInvalidations(),
  } = options
  const channel = `${prefix}invalidations`
  const self = randomUUID()
  const listeners = new Set<(event: RemoteEvent) => void>()
  let isUp = false
  let poisoned = 0
  let isClosed = false
  let recheck: unknown

  const connection: RedisOptions = {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    // Closing a connection that is gone already holds the process for this long.
    disconnectTimeout: 100,
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
  }
  const commands = connect({ ...connection, commandTimeout: commandTimeoutMs }, 'commands')
  const subscriber = connect(
    { ...connection, commandTimeout: commandTimeoutMs, autoResubscribe: false },
    'subscriber',
  )
  commands.defineCommand('vinyasaRead', { numberOfKeys: 1, lua: readScript })
  commands.defineCommand('vinyasaWrite', { numberOfKeys: 1, lua: writeScript })
  commands.defineCommand('vinyasaInvalidate', { numberOfKeys: 1, lua: invalidateScript })
  commands.defineCommand('vinyasaBeat', { numberOfKeys: 1, lua: beatScript })

  function emit(event: RemoteEvent) {
    for (const listener of listeners) listener(event)
  }

  function goDown(what: string, cause: unknown) {
    if (!isUp || isClosed) return
    isUp = false
    // A stall of this process looks like one of Redis; look again before the next heartbeat.
    backgroundClock.clearTimeout(recheck)
    recheck = backgroundClock.setTimeout(() => void check(), 20)
    emit({ type: 'down', error: storeUnavailable(what, cause) })
  }

  async function send(tags: Tags): Promise<void> {
    const message = JSON.stringify({ from: self, tags })
    await commands.vinyasaInvalidate(prefix, channel, message, rememberMs, ...(tags === 'all' ? [] : tags))
  }

  async function deliver({ tags, end }: Delivery): Promise<void> {
    try {
      await send(tags)
      end(true)
    } catch (error) {
      end(false)
      throw error
    }
  }

  /** What another store owes is delivered first, by whichever can. */
  function mayUse(): boolean {
    if (!isUp || !undelivered.hasAny) return isUp
    void check()
    return false
  }

  let changes = 0
  let noted: Promise<void> = Promise.resolve()
  /** Says that this process is there, and whether it is changing something; looks for those that were and fell silent. */
  async function beat(): Promise<void> {
    const message = JSON.stringify({ from: NOBODY, tags: 'all' })
    const silentMs = Math.max(1_000, 3 * heartbeatMs)
    await commands.vinyasaBeat(prefix, channel, message, self, changes > 0 ? 1 : 0, silentMs, rememberMs)
  }

  let isChecking = false
  /** Up is: both connections answer, the channel is subscribed, and no invalidation is undelivered. */
  async function check() {
    if (isChecking || isClosed) return
    isChecking = true
    try {
      await beat()
      await (isUp ? subscriber.ping() : subscriber.subscribe(channel))
      for (let delivery = undelivered.take(); delivery; delivery = undelivered.take()) await deliver(delivery)
      if (!isUp && !isClosed) {
        isUp = true
        emit({ type: 'up' })
      }
    } catch (error) {
      goDown('ping', error)
    } finally {
      isChecking = false
    }
  }

  for (const client of [commands, subscriber]) {
    client.on('error', (error: unknown) => goDown('connection', error))
    client.on('close', () => goDown('connection', 'closed'))
    client.on('ready', () => void check())
  }
  // A cluster goes on without one of its nodes; those that are there already come first.
  commands.on('+node', (node: Redis) => node.once('close', () => goDown('connection', 'closed')))
  subscriber.on('message', (_channel: string, message: string) => {
    const tags = decodeTags(message, self)
    if (tags) emit({ type: 'invalidated', tags })
  })
  const leaveUndelivered = undelivered.subscribe((tags, from) => {
    if (from !== self) emit({ type: 'invalidated', tags })
  })
  const heartbeat = setInterval(() => void check(), heartbeatMs)
  heartbeat.unref()

  return {
    async read(key) {
      if (!mayUse()) return undefined
      try {
        const [seq, meta, tags, body] = await commands.vinyasaReadBuffer(prefix, key)
        const version = Number(seq?.toString())
        if (meta?.toString() === 'poisoned') poisoned++
        const entry = decodeMeta(meta, tags, body, version)
        if (meta && body && !entry) {
          poisoned++
          await commands.unlink(`${prefix}e:${key}`)
        }
        return { entry, version }
      } catch (error) {
        goDown('read', error)
        return undefined
      }
    },
    async write(key, entry: CacheEntry, version) {
      if (!mayUse()) return false
      const px = Math.ceil(entry.ttlMs + entry.staleMs)
      try {
        const tags = JSON.stringify(entry.tags)
        const stored = await commands.vinyasaWrite(
          prefix,
          key,
          version,
          px,
          encodeMeta(entry),
          tags,
          entry.body,
        )
        return stored === 1
      } catch (error) {
        goDown('write', error)
        return false
      }
    },
    async invalidate(tags) {
      if (!isUp) {
        undelivered.add(tags, self)
        return
      }
      try {
        await send(tags)
      } catch (error) {
        undelivered.add(tags, self)
        goDown('invalidate', error)
      }
    },
    async changing() {
      // The first says so, the last takes it back; nobody waits for a store that does not answer.
      const note = async (): Promise<void> => {
        if (isUp && !isClosed) await beat().catch((error: unknown) => goDown('beat', error))
      }
      if (++changes === 1) noted = note()
      await noted
      return () => {
        if (--changes === 0) void note()
      }
    },
    async delete(key) {
      if (isUp) await commands.unlink(`${prefix}e:${key}`).catch((error: unknown) => goDown('delete', error))
    },
    subscribe(listener) {
      listeners.add(listener)
      if (!isUp) listener({ type: 'down', error: undefined })
      return () => listeners.delete(listener)
    },
    async ready(timeoutMs = 2_000) {
      const until = systemClock.now() + timeoutMs
      const hasAnswered = () => isUp
      while (!hasAnswered()) {
        if (systemClock.now() > until) {
          throw storeUnavailable(
            'start',
            `no answer from ${url === undefined ? 'Redis' : new URL(url).host} in ${timeoutMs} ms`,
          )
        }
        await sleep(systemClock, 10)
      }
    },
    get poisoned() {
      return poisoned
    },
    async close() {
      isClosed = true
      clearInterval(heartbeat)
      backgroundClock.clearTimeout(recheck)
      leaveUndelivered()
      listeners.clear()
      commands.disconnect()
      subscriber.disconnect()
    },
  }
}
