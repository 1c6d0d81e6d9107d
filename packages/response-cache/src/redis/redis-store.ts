import { backgroundClock, createSparseReports, MAX_BROKER_BYTES, sleep, systemClock } from '@vinyasa/core'
import type { BatchName } from '@vinyasa/invalidation'
import type { ConnectRedis } from '@vinyasa/invalidation/redis'
import { randomUUID } from 'node:crypto'
import type { Redis, RedisOptions } from 'ioredis'
import type { CacheEntry, RemoteEvent, RemoteRead, RemoteStore, Tags } from '../store/entry.ts'
import { configError, storeUnavailable } from '../errors.ts'
import {
  createUndeliveredInvalidations,
  type Delivery,
  type UndeliveredInvalidations,
} from '../store/undelivered-invalidations.ts'
import { decodeMeta, decodeMessage, encodeMeta, encodeMessage, type Sender } from './codec.ts'
import { ToldBatches } from './told-batches.ts'

/** Maximum bytes of a stored result. A corrupted result can have any length. */
const MAX_BODY_BYTES: number = 64 * 1024 * 1024
/** Maximum number of remembered tags, about 30 MB in Redis. */
const MAX_CHANGED = 250_000

/**
 * All keys start with one hash tag, so that they are in one slot of a cluster. `seq` counts invalidations, in
 * microseconds of the server. `floor` is its first value. After FLUSHALL, the new count starts above every older count,
 * so that results with an old count are refused. `changed` contains each tag with the count of its last invalidation,
 * and the server's run id. It is a single key, so a server that evicts keys for lack of memory loses all of it. A
 * missing key also starts a new count.
 */
const begin = `
local prefix = KEYS[1]
local changed = prefix .. 'changed'
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
-- If INFO is not permitted, all servers have the same name.
local function server()
  local answered, info = pcall(redis.call, 'INFO', 'server')
  return ' ' .. (answered and type(info) == 'string' and string.match(info, 'run_id:(%x+)') or '')
end
local function mark()
  redis.call('ZREMRANGEBYSCORE', changed, '+inf', '+inf')
  redis.call('ZADD', changed, '+inf', '', '+inf', server())
end
-- Deletes old tags, at most 1,000 per call, because Redis serves no other client meanwhile.
local function forget(rememberMs)
  local old = redis.call('ZCOUNT', changed, '-inf', string.format('%.0f', micros - rememberMs * 1000))
  if old > 0 then redis.call('ZREMRANGEBYRANK', changed, 0, math.min(old, 1000) - 1) end
end
-- The number in a key that this cache wrote; nil for any other value.
local function count(key)
  local text = redis.pcall('GET', prefix .. key)
  return type(text) == 'string' and #text <= 16 and string.match(text, '^%d+$') and tonumber(text) < 9e15 and text
end
local floor = count('floor')
local seq = count('seq')
local isMarked = type(redis.pcall('ZSCORE', changed, '')) == 'string'
if not floor or not seq or not isMarked or tonumber(floor) > tonumber(seq) then
  floor = string.format('%.0f', math.max(micros, (tonumber(seq or 0)) + 1))
  seq = floor
  redis.call('SET', prefix .. 'floor', floor)
  redis.call('SET', prefix .. 'seq', seq)
  if not isMarked then redis.call('UNLINK', changed) end
  mark()
end
local function advance()
  seq = string.format('%.0f', math.max(micros, seq + 1))
  redis.call('SET', prefix .. 'seq', seq)
  return seq
end
local function holds(since, tags)
  local read = tonumber(since)
  -- Corrupted counts include NaN, for which both comparisons are false.
  if not read or not (read >= tonumber(floor) and read <= tonumber(seq)) then return false end
  for _, tag in ipairs(tags) do
    local at = type(tag) == 'string' and redis.call('ZSCORE', changed, tag)
    if type(tag) ~= 'string' or (at and tonumber(at) > read) then return false end
  end
  return true
end
`

/** ARGV: entry key. Returns the count, and the meta and body of the entry. Removes foreign and outdated entries. */
const readScript: string = `${begin}
local key = prefix .. 'e:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then return { seq } end
local kind = redis.call('TYPE', key).ok
if kind == 'hash' and redis.call('HSTRLEN', key, 'body') <= ${MAX_BODY_BYTES} then
  local entry = redis.call('HMGET', key, 'meta', 'tags', 'seq', 'body')
  if entry[1] and entry[2] and entry[3] and entry[4] then
    local ok, tags = pcall(cjson.decode, entry[2])
    if ok and type(tags) == 'table' then
      if holds(entry[3], tags) then return { seq, entry[1], entry[2], entry[4] } end
      redis.call('UNLINK', key)
      return { seq }
    end
  end
end
redis.call('UNLINK', key)
return { seq, 'poisoned' }
`

/** ARGV: entry key, count at the read, lifetime in ms, meta, tags as JSON, body. Returns 1 if the entry was stored. */
const writeScript: string = `${begin}
local ok, tags = pcall(cjson.decode, ARGV[5])
if not ok or not holds(ARGV[2], tags) then return 0 end
local key = prefix .. 'e:' .. ARGV[1]
redis.call('UNLINK', key)
redis.call('HSET', key, 'meta', ARGV[4], 'tags', ARGV[5], 'seq', ARGV[2], 'body', ARGV[6])
redis.call('PEXPIRE', key, ARGV[3])
return 1
`

/**
 * ARGV: channel, message, process id, whether the process is executing a change, ms without a heartbeat after which
 * such a process counts as dead, ms for which tags are remembered.
 * The changes of a dead process are unknown. The same applies to invalidations that a server lost when it restarted
 * from a snapshot, or when a replica replaced it too early. In these cases everything is evicted, and the script
 * returns 1.
 */
const beatScript: string = `${begin}
forget(ARGV[6])
local now = math.floor(micros / 1000)
local key = prefix .. 'changing'
local kind = redis.call('TYPE', key).ok
-- A corrupted list of changes is lost: treat it as if a process had died.
local lost = (kind == 'zset' or kind == 'none') and 0 or redis.call('UNLINK', key)
if ARGV[4] == '1' then redis.call('ZADD', key, now, ARGV[3]) else redis.call('ZREM', key, ARGV[3]) end
local died = redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - ARGV[5])) + lost
local isOther = not redis.call('ZSCORE', changed, server())
if isOther then mark() end
if died == 0 and not isOther then return 0 end
redis.call('SET', prefix .. 'floor', advance())
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`

/** ARGV: channel, message, ms for which tags are remembered, then the tags. Without tags, everything is evicted. */
const invalidateScript: string = `${begin}
local now = advance()
if #ARGV == 3 then redis.call('SET', prefix .. 'floor', now) end
for index = 4, #ARGV do redis.call('ZADD', changed, now, ARGV[index]) end
-- Clients choose ids: beyond this number, all entries count as invalidated.
if redis.call('ZCARD', changed) > ${MAX_CHANGED} then
  redis.call('UNLINK', changed)
  mark()
  redis.call('SET', prefix .. 'floor', now)
end
forget(ARGV[3])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`

declare module 'ioredis' {
  interface RedisCommander {
    vinyasaReadBuffer(prefix: string, key: string): Promise<(Buffer | null)[]>
    vinyasaWrite(prefix: string, ...args: (string | number | Buffer)[]): Promise<number>
    vinyasaInvalidate(prefix: string, ...args: (string | number)[]): Promise<number>
    vinyasaBeat(prefix: string, ...args: (string | number)[]): Promise<number>
  }
}

/** A sender that differs from every process. */
const NOBODY: Sender = { self: 'nobody', database: 0 }

const CONNECTION: RedisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 1_000,
  // Otherwise, a connection whose other end disappeared would stay open as long as the system retransmits.
  socketTimeout: 2_000,
  // Closing a broken connection keeps the process running for this time.
  disconnectTimeout: 100,
  retryStrategy: (attempt) => Math.min(50 * attempt, 500),
}

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with password and database number if needed. Required unless `connect` is set. */
  readonly url?: string | undefined
  /**
   * Opens both connections with the given options, for example to a cluster. Use `connectRedis` of
   * `@vinyasa/invalidation/redis`. Default: connects to `url`.
   */
  readonly connect?: ConnectRedis | undefined
  /**
   * Invalidations that Redis has not received yet: one `createUndeliveredInvalidations()` for all stores of one Redis
   * in a process. A store that replaces another store delivers its pending invalidations before it reads. Default: a
   * new object.
   */
  readonly undelivered?: UndeliveredInvalidations | undefined
}

/** Throws RESPONSE_CACHE_CONFIG if the URL is not a Redis address. The error omits user and password. */
export function checkRedisUrl(url: string | undefined): asserts url is string {
  if (url !== undefined && URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)) return
  const shown = url?.replace(/^(\w+:\/\/)?.*@/s, '$1')
  throw configError('redisUrl', shown, 'a URL such as redis://localhost:6379')
}

/** Times in milliseconds, which tests replace. */
export interface StoreTimes {
  /** Timeout of a command. On timeout, the request continues without the cache. Default 140. */
  readonly commandMs?: number | undefined
  /** Time between two checks of the connection. Default 1000. */
  readonly heartbeatMs?: number | undefined
  /**
   * Time for which invalidations are kept, longer than the lifetime of an entry plus its execution. Default one day.
   * Older invalidations are deleted 1,000 at a time, with invalidations and heartbeats.
   */
  readonly rememberMs?: number | undefined
}

/** Prefix of all keys. The braces keep them in one slot of a cluster. */
const PREFIX = '{vinyasa:cache}:'
const CHANNEL = `${PREFIX}invalidations`

/** A Redis store with a promise for its first connection. */
export interface RedisStore extends RemoteStore {
  /** Resolves after the first response of Redis. Rejects with RESPONSE_CACHE_UNAVAILABLE after `timeoutMs`. */
  ready(timeoutMs?: number): Promise<void>
  /** Number of foreign values that were found in the cache's keys and removed. */
  readonly poisoned: number
}

/** The store for given connections. It does not import the Redis client. */
export class ConnectedStore implements RedisStore {
  poisoned = 0
  private readonly url: RedisStoreOptions['url']
  private readonly heartbeatMs: number
  private readonly rememberMs: number
  private readonly undelivered: UndeliveredInvalidations
  private readonly told: ToldBatches
  private readonly commands: ReturnType<ConnectRedis>
  private readonly subscriber: ReturnType<ConnectRedis>
  private readonly sender: Sender
  private readonly listeners = new Set<(event: RemoteEvent) => void>()
  private readonly leaveUndelivered: () => void
  private readonly heartbeat: NodeJS.Timeout
  private readonly outages = createSparseReports(backgroundClock)
  private isUp = false
  private isClosed = false
  private isChecking = false
  private recheck: unknown
  private changes = 0
  private noted: Promise<void> = Promise.resolve()

  constructor(
    connect: ConnectRedis,
    { url, undelivered = createUndeliveredInvalidations() }: RedisStoreOptions,
    { commandMs = 140, heartbeatMs = 1_000, rememberMs = 86_400_000 }: StoreTimes = {},
  ) {
    this.url = url
    this.heartbeatMs = heartbeatMs
    this.rememberMs = rememberMs
    this.undelivered = undelivered
    this.told = new ToldBatches(commandMs, backgroundClock)
    const connection = { ...CONNECTION, commandTimeout: commandMs }
    this.commands = connect(connection, 'commands')
    this.sender = { self: randomUUID(), database: databaseOf(this.commands) }
    this.subscriber = connect({ ...connection, autoResubscribe: false }, 'subscriber')
    this.listen()
    this.leaveUndelivered = undelivered.subscribe((tags, from) => {
      if (from !== this.sender.self) this.emit({ type: 'invalidated', tags })
    })
    this.heartbeat = setInterval(() => void this.check(), heartbeatMs)
    this.heartbeat.unref()
  }

  async read(key: string): Promise<RemoteRead | undefined> {
    if (!this.mayUse()) return undefined
    try {
      const [seq, meta, tags, body] = await this.commands.vinyasaReadBuffer(PREFIX, key)
      const version = Number(seq?.toString())
      if (meta?.toString() === 'poisoned') this.poisoned++
      const entry = decodeMeta(meta, tags, body, version)
      if (meta && body && !entry) {
        this.poisoned++
        await this.commands.unlink(`${PREFIX}e:${key}`)
      }
      return { entry, version }
    } catch (error) {
      this.goDown('read', error)
      return undefined
    }
  }

  async write(key: string, entry: CacheEntry, version: number): Promise<boolean> {
    if (!this.mayUse()) return false
    const px = Math.ceil(entry.ttlMs + entry.staleMs)
    try {
      const tags = JSON.stringify(entry.tags)
      if (tags.length > MAX_BROKER_BYTES / 2 || entry.body.length > MAX_BODY_BYTES) return false
      const meta = encodeMeta(entry)
      return (await this.commands.vinyasaWrite(PREFIX, key, version, px, meta, tags, entry.body)) === 1
    } catch (error) {
      this.goDown('write', error)
      return false
    }
  }

  async invalidate(tags: Tags, name?: BatchName): Promise<void> {
    const isOthers = name !== undefined && !name.isOwn
    if (isOthers && this.isUp && (await this.told.has(name, tags))) return
    if (!this.isUp) {
      this.undelivered.add(tags, this.sender.self)
      return
    }
    try {
      await this.send(tags, isOthers ? undefined : name)
    } catch (error) {
      this.undelivered.add(tags, this.sender.self)
      this.goDown('invalidate', error)
    }
  }

  /** Marks the start of a change. The returned function ends it. Callers do not wait for an unreachable store. */
  async changing(): Promise<() => void> {
    if (++this.changes === 1) this.noted = this.noteChanges()
    await this.noted
    return () => {
      if (--this.changes === 0) void this.noteChanges()
    }
  }

  async delete(key: string): Promise<void> {
    if (!this.isUp) return
    await this.commands.unlink(`${PREFIX}e:${key}`).catch((error: unknown) => this.goDown('delete', error))
  }

  subscribe(listener: (event: RemoteEvent) => void): () => void {
    this.listeners.add(listener)
    if (!this.isUp) listener({ type: 'down', error: undefined })
    return () => void this.listeners.delete(listener)
  }

  async ready(timeoutMs: number = 2_000): Promise<void> {
    const until = systemClock.now() + timeoutMs
    while (!this.isUp) {
      if (systemClock.now() > until) {
        const host = this.url === undefined ? 'Redis' : new URL(this.url).host
        throw storeUnavailable('start', `no response from ${host} within ${timeoutMs} ms`)
      }
      await sleep(systemClock, 10)
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.told.forget()
    clearInterval(this.heartbeat)
    backgroundClock.clearTimeout(this.recheck)
    this.leaveUndelivered()
    this.listeners.clear()
    this.commands.disconnect()
    this.subscriber.disconnect()
  }

  private listen(): void {
    const { commands, subscriber } = this
    commands.defineCommand('vinyasaRead', { numberOfKeys: 1, lua: readScript })
    commands.defineCommand('vinyasaWrite', { numberOfKeys: 1, lua: writeScript })
    commands.defineCommand('vinyasaInvalidate', { numberOfKeys: 1, lua: invalidateScript })
    commands.defineCommand('vinyasaBeat', { numberOfKeys: 1, lua: beatScript })
    const onClose = (): void => this.goDown('connection', 'closed')
    for (const client of [commands, subscriber]) {
      client.on('error', (error: unknown) => this.goDown('connection', error))
      client.on('close', onClose)
      client.on('ready', () => void this.check())
    }
    // A cluster continues without one of its nodes. The event is also emitted for existing nodes.
    commands.on('+node', (node: Redis) => node.once('close', onClose))
    subscriber.on('messageBuffer', (_channel: Buffer, message: Buffer) => {
      const word = decodeMessage(message, this.sender)
      if (!word) return
      this.emit({ type: 'invalidated', tags: word.tags })
      if (word.name) this.told.hear(word.name, word.tags)
    })
  }

  private emit(event: RemoteEvent): void {
    for (const listener of this.listeners) listener(event)
  }

  private goDown(what: string, cause: unknown): void {
    if (!this.isUp || this.isClosed) return
    this.isUp = false
    this.told.forget()
    // A stall of this process looks like a stall of Redis, so the store checks again before the next heartbeat.
    backgroundClock.clearTimeout(this.recheck)
    this.recheck = backgroundClock.setTimeout(() => void this.check(), 20)
    this.emit({ type: 'down', error: this.outages.count() > 0 ? storeUnavailable(what, cause) : undefined })
  }

  private async send(tags: Tags, name?: BatchName): Promise<void> {
    const message = encodeMessage(this.sender, { tags, name })
    const keys = tags === 'all' ? [] : tags
    await this.commands.vinyasaInvalidate(PREFIX, CHANNEL, message, this.rememberMs, ...keys)
  }

  private async deliver({ tags, end }: Delivery): Promise<void> {
    try {
      await this.send(tags)
      end(true)
    } catch (error) {
      end(false)
      throw error
    }
  }

  /** Returns whether Redis can be used. Pending invalidations of another store must be delivered first. */
  private mayUse(): boolean {
    if (!this.isUp || !this.undelivered.hasAny) return this.isUp
    void this.check()
    return false
  }

  private async noteChanges(): Promise<void> {
    if (this.isUp && !this.isClosed) await this.beat().catch((error: unknown) => this.goDown('beat', error))
  }

  /** Sends a heartbeat with the state of this process, and looks for processes whose heartbeats have stopped. */
  private async beat(): Promise<void> {
    const { sender, rememberMs } = this
    const message = encodeMessage(NOBODY, { tags: 'all', name: undefined })
    const silentMs = Math.max(1_000, 3 * this.heartbeatMs)
    const isChanging = this.changes > 0 ? 1 : 0
    await this.commands.vinyasaBeat(PREFIX, CHANNEL, message, sender.self, isChanging, silentMs, rememberMs)
  }

  /**
   * Checks the store. It is up if both connections respond, the channel is subscribed, and no invalidation is pending.
   */
  private async check(): Promise<void> {
    if (this.isChecking || this.isClosed) return
    this.isChecking = true
    const { undelivered, subscriber } = this
    try {
      await this.beat()
      await (this.isUp ? subscriber.ping() : subscriber.subscribe(CHANNEL))
      for (let next = undelivered.take(); next; next = undelivered.take()) await this.deliver(next)
      if (!this.isUp && !this.isClosed) {
        this.isUp = true
        this.emit({ type: 'up' })
      }
    } catch (error) {
      this.goDown('ping', error)
    } finally {
      this.isChecking = false
    }
  }
}

/** A cluster has only one database. */
function databaseOf({ options }: ReturnType<ConnectRedis>): number {
  return 'db' in options ? (options.db ?? 0) : 0
}
