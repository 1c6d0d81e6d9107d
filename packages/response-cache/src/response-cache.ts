import { systemClock } from '@vinyasa/base'
import type { InvalidationEvent } from '@vinyasa/invalidation'
import { checkOptions } from './check-options.ts'
import type { CacheEntry } from './store/entry.ts'
import { freshness } from './store/freshness.ts'
import { createMemoryStore } from './store/memory-store.ts'
import type { CacheEvent, InvalidationCause, ResponseCacheOptions } from './options.ts'
import { openRedisStore } from './open-redis-store.ts'
import type { RemoteEvent, RemoteStore } from './store/remote-store.ts'
import { createStats, type CacheStats } from './stats.ts'
import { tagsOfTargets, type InvalidationTarget, type Tags } from './store/tags.ts'
import { storedAtHere, withWallTime } from './store/stored-at.ts'
import { createVersionClock } from './store/version-clock.ts'

/** Read before an execution; a result may be stored only while it still holds. */
export interface Ticket {
  readonly version: number
  /** The shared store's version. Absent: the store is not reachable, nothing is stored. */
  readonly remoteVersion: number | undefined
}

export type Lookup =
  | { readonly state: 'fresh' | 'stale'; readonly entry: CacheEntry; readonly ticket: Ticket }
  | { readonly state: 'miss'; readonly ticket: Ticket }
  /** The shared store is down: answer without a cache. */
  | { readonly state: 'unavailable' }

/** The target of a purge: one key, all of a type, one entity, or everything. */
export type PurgeTarget = { readonly key: string } | InvalidationTarget | 'all'

/** A cache as its owner sees it. */
export interface ResponseCache {
  readonly options: ResponseCacheOptions
  /** Removes entries. Resolves when no request here can be answered from them. */
  purge(target: PurgeTarget): Promise<void>
  stats(): CacheStats
  /** Releases the bus and the shared store's connections. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A cache with all that the plugin needs besides. */
export interface CacheEngine extends ResponseCache {
  readonly byEntity: boolean
  /** There is a store behind memory. */
  readonly isShared: boolean
  /** Memory only, so that it can be asked before anything else runs. */
  peek(key: string): Lookup | undefined
  lookup(key: string): Lookup | Promise<Lookup>
  /** Whether an execution that began at `version` may still answer those who ask now. */
  isUntouched(version: number, types: readonly string[]): boolean
  /** Keeps the entry if it still holds. A promise only where there is a store behind memory. */
  store(key: string, entry: CacheEntry, ticket: Ticket): Promise<void> | undefined
  invalidate(cause: InvalidationCause): Promise<void>
  invalidateTags(tags: Tags): Promise<void>
  /** To be awaited before something is changed; the returned function is called after its invalidation. */
  changing(): Promise<() => void> | undefined
  emit(event: CacheEvent): void
}

/** Creates a cache to hand to `useResponseCache`, and to purge and observe. */
export function createResponseCache(options: ResponseCacheOptions = {}): ResponseCache {
  return createCacheEngine(options)
}

export function createCacheEngine(options: ResponseCacheOptions): CacheEngine {
  const { maxSize = 10_000, maxBytes = 64 * 1024 * 1024 } = options
  const { strategy = 'types', bus, redisUrl, onEvent, clock = systemClock } = options
  checkOptions(options)
  const remote = options.store ?? (redisUrl === undefined ? undefined : openRedisStore(redisUrl))
  // Without news from the store, memory in front of it could serve what another process evicted.
  const useMemory = !remote || remote.subscribe !== undefined
  const versions = createVersionClock()
  const { stats, count } = createStats()
  const memory = createMemoryStore({
    maxSize,
    maxBytes,
    clock,
    onEvict: (key) => emit({ type: 'evicted', key }),
  })
  const byEntity = strategy === 'entities' || typeof strategy === 'function'
  // `subscribe` tells at once when the store is not reachable yet.
  let isUp = true
  const leaveStore = remote?.subscribe?.(onRemoteEvent)
  const leaveBus = bus?.subscribe((events) => invalidate(causeOfEvents(events)), { phase: 'evict' })

  function emit(event: CacheEvent) {
    count(event)
    if (onEvent) onEvent(event)
    else if (event.type === 'warning') warn(event.warning)
  }

  function onRemoteEvent(event: RemoteEvent) {
    if (event.type === 'invalidated') {
      applyLocally(event.tags)
      return
    }
    isUp = event.type === 'up'
    if (event.type === 'down' && event.error !== undefined) emit({ type: 'error', error: event.error })
    applyLocally('all')
  }

  /** A store that fails costs the cache, never the request. */
  async function attempt<T>(call: () => Promise<T> | undefined): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      emit({ type: 'error', error })
      return undefined
    }
  }

  /** Whether changes are heard of in time; while they are not, nothing that is kept is given out. */
  const isInTouch = (): boolean => isUp && bus?.isInTouch !== false

  function applyLocally(tags: Tags) {
    versions.invalidate(tags)
    if (tags === 'all') memory.clear()
    emit({ type: 'invalidated', tags })
  }

  /** Judges an entry; one that expired or does not hold is dropped. */
  function judge(key: string, entry: CacheEntry, ticket: Ticket): Lookup {
    const state = freshness(clock.now() - entry.storedAt, entry)
    if (state !== 'miss' && versions.holds(entry.version, entry.tags)) return { state, entry, ticket }
    memory.delete(key)
    return { state: 'miss', ticket }
  }

  function peek(key: string): Lookup | undefined {
    if (!isInTouch()) return undefined
    const entry = memory.get(key)
    return entry && judge(key, entry, { version: versions.now(), remoteVersion: undefined })
  }

  async function lookupRemote(key: string, version: number): Promise<Lookup> {
    const read = await attempt(() => remote?.read(key))
    if (!read) return { state: 'unavailable' }
    const ticket: Ticket = { version, remoteVersion: read.version }
    if (!read.entry) return { state: 'miss', ticket }
    const storedAt = storedAtHere(clock, read.entry.storedAt)
    const entry = { ...read.entry, storedAt, version: Math.min(read.entry.version, version) }
    const found = judge(key, entry, ticket)
    if (found.state === 'fresh' && useMemory) memory.set(key, found.entry)
    return found
  }

  function keep(key: string, entry: CacheEntry) {
    if (useMemory) memory.set(key, entry)
    emit({ type: 'stored', key })
  }

  async function storeRemote(store: RemoteStore, key: string, entry: CacheEntry, ticket: Ticket) {
    if (ticket.remoteVersion === undefined) return
    const isStored = await store.write(key, withWallTime(clock, entry), ticket.remoteVersion)
    if (!isStored) return
    if (versions.holds(ticket.version, entry.tags)) keep(key, entry)
    // A store without versions of its own may have taken the write after the invalidation.
    else await store.delete(key)
  }

  async function invalidateTags(tags: Tags) {
    if (tags !== 'all' && tags.length === 0) return
    applyLocally(tags)
    if (!remote) return
    await attempt(() => remote.invalidate(tags))
    // Whoever read the store between the two has brought an outdated entry back into memory.
    versions.invalidate(tags)
  }

  async function invalidate(cause: InvalidationCause) {
    // Nobody can narrow what the bus has missed.
    const isGap = cause.source === 'event' && cause.types.includes('*')
    if (strategy === 'all' || isGap) await invalidateTags('all')
    else if (typeof strategy === 'function') await invalidateTargets(strategy(cause))
    else await invalidateTargets(byEntity ? cause.entities : cause.types.map((type) => ({ type })))
  }

  async function invalidateTargets(targets: readonly InvalidationTarget[] | 'all') {
    // `*` says that anything may have changed.
    if (targets === 'all' || targets.some(({ type }) => type === '*')) await invalidateTags('all')
    else if (targets.length > 0) await invalidateTags(tagsOfTargets(targets, byEntity))
  }

  async function close() {
    leaveBus?.()
    leaveStore?.()
    memory.clear()
    await remote?.close()
  }

  return {
    options,
    byEntity,
    isShared: remote !== undefined,
    emit,
    peek,
    invalidate,
    invalidateTags,
    changing: () => remote?.changing?.(),
    close,
    [Symbol.asyncDispose]: close,
    isUntouched: versions.isUntouched,
    stats: () => ({ ...stats(), entries: memory.size, bytes: memory.bytes }),
    lookup(key) {
      const version = versions.now()
      if (!isInTouch()) return { state: 'unavailable' }
      const found = useMemory ? peek(key) : undefined
      // A stale entry is refreshed and stored, which needs the shared store's version.
      if (found?.state === 'fresh') return found
      if (remote) return lookupRemote(key, version)
      return found ?? { state: 'miss', ticket: { version, remoteVersion: undefined } }
    },
    store(key, entry, ticket) {
      if (!memory.takes(entry) || !versions.holds(ticket.version, entry.tags)) return undefined
      if (remote) return storeRemote(remote, key, entry, ticket)
      keep(key, entry)
      return undefined
    },
    async purge(target) {
      if (target === 'all') {
        await invalidateTags('all')
      } else if ('key' in target) {
        memory.delete(target.key)
        await remote?.delete(target.key)
      } else {
        await invalidateTargets([target])
      }
    },
  }
}

function causeOfEvents(events: readonly InvalidationEvent[]): InvalidationCause {
  return {
    source: 'event',
    events,
    types: [...new Set(events.map((event) => event.entityType))],
    // An entity that was just created is in no entry yet, but may belong into any list of its type.
    entities: events.map(({ entityType, operation, entityId }) => ({
      type: entityType,
      id: operation === 'create' ? undefined : entityId,
    })),
  }
}

function warn(warning: Error): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.warn(warning.message)
}
