import {
  atLeast,
  backgroundClock,
  type Clock,
  flag,
  type KnownOptions,
  text,
  texts,
  wrongOption,
} from '@vinyasa/core'
import type { BatchName, InvalidationEvent } from '@vinyasa/invalidation'
import { openRedisStore } from './open-redis-store.ts'
import type { CacheEvent, InvalidationCause, InvalidationStrategy, ResponseCacheOptions } from './options.ts'
import { Entries } from './store/entries.ts'
import { type InvalidationTarget, type Tags, tagsOfTargets } from './store/entry.ts'
import { configError, foreignOption, wrongOptions, twoParameters } from './errors.ts'

/** Options of `@envelop/response-cache` and their replacements here. JavaScript does not report them. */
const namesElsewhere: Readonly<Record<string, string | undefined>> = {
  ttl: 'defaultTtlMs',
  ignoredTypes: 'ttlMsBySchemaCoordinate with a lifetime of 0',
  ttlPerType: 'ttlMsBySchemaCoordinate',
  ttlPerSchemaCoordinate: 'ttlMsBySchemaCoordinate',
  invalidateViaMutation: 'invalidateOnMutation',
  cache: 'store: fromEnvelopCache(cache)',
  includeExtensionMetadata: 'onEvent, or the x-cache header',
  scopePerSchemaCoordinate: '@cacheControl(scope:)',
  buildResponseCacheKey: 'varyHeaders and session',
  shouldCacheResult: undefined,
  getDocumentString: undefined,
  onTtl: undefined,
}

const NAMES: KnownOptions<ResponseCacheOptions> = {
  maxSize: atLeast(0),
  maxBytes: atLeast(0),
  defaultTtlMs: atLeast(0),
  staleWhileRevalidateMs: atLeast(0),
  invalidateOnMutation: flag,
  redisUrl: text,
  store: true,
  varyHeaders: texts,
  ignoredReads: texts,
  prefix: text,
  strategy: true,
  bus: true,
  idFields: texts,
  ttlMsBySchemaCoordinate: { '*': atLeast(0) },
  session: true,
  access: true,
  enabled: true,
  clientMaxAge: flag,
  exposeReasons: flag,
  onEvent: true,
  platform: true,
}

/** Throws RESPONSE_CACHE_CONFIG for invalid options. */
function checkOptions(options: ResponseCacheOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && Object.hasOwn(namesElsewhere, name))
      throw foreignOption(name, namesElsewhere[name])
  }
  const wrong = wrongOption(options, NAMES)
  if (wrong) throw wrongOptions(wrong)
  for (const name of ['session', 'enabled'] as const) {
    const value = options[name]
    if (value !== undefined && typeof value !== 'function') throw configError(name, value, 'a function')
    if (value && value.length > 1) throw twoParameters(name)
  }
  const { strategy = 'types' } = options
  if (typeof strategy !== 'function' && !['types', 'entities', 'all'].includes(strategy))
    throw configError('strategy', strategy, 'types, entities, all or a function')
}

/** Counters since the cache was created. */
interface CacheStats {
  /** Number of entries in memory. */
  readonly entries: number
  /** Bytes of the entries, counted like `maxBytes`. */
  readonly bytes: number
  readonly hits: number
  readonly misses: number
  readonly stale: number
  readonly coalesced: number
  readonly bypassed: number
  readonly stored: number
  readonly evicted: number
  readonly invalidations: number
  readonly errors: number
}

const counterOf = {
  hit: 'hits',
  miss: 'misses',
  stale: 'stale',
  coalesced: 'coalesced',
  bypass: 'bypassed',
  stored: 'stored',
  evicted: 'evicted',
  invalidated: 'invalidations',
  error: 'errors',
} as const satisfies Record<Exclude<CacheEvent['type'], 'warning'>, keyof CacheStats>

/** The target of a purge: one key, all entities of a type, one entity, or everything. */
export type PurgeTarget = { readonly key: string } | InvalidationTarget | 'all'

/** The public interface of a cache. */
export interface ResponseCache {
  readonly options: ResponseCacheOptions
  /** Removes entries. Resolves when this process no longer serves them. */
  purge(target: PurgeTarget): Promise<void>
  stats(): CacheStats
  /** Releases the bus and the connections of the shared store. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A cache with the members that the plugin needs. */
export interface CacheEngine extends ResponseCache {
  readonly options: ResponseCacheOptions & { readonly clock: Clock }
  readonly byEntity: boolean
  readonly entries: Entries
  invalidate(cause: InvalidationCause): Promise<void>
  /** Must be awaited before a change. The returned function is called after the invalidation of the change. */
  changing(): Promise<() => void> | undefined
  emit(event: CacheEvent): void
}

/** Creates a cache for `useResponseCache` that can be purged and observed. */
export function createResponseCache(options: ResponseCacheOptions = {}): ResponseCache {
  return createCacheEngine(options)
}

export function createCacheEngine(options: ResponseCacheOptions): CacheEngine {
  const { maxSize = 10_000, maxBytes = 64 * 1024 * 1024 } = options
  const { strategy = 'types', bus, redisUrl, onEvent } = options
  const clock: Clock = { ...backgroundClock, ...options.platform?.clock }
  checkOptions(options)
  const store = options.store ?? (redisUrl === undefined ? undefined : openRedisStore(redisUrl))
  const counts = Object.fromEntries(Object.values(counterOf).map((name) => [name, 0])) as {
    -readonly [Name in keyof Omit<CacheStats, 'entries' | 'bytes'>]: number
  }
  const entries = new Entries({ maxSize, maxBytes, store, bus, clock, emit })
  const leaveBus = bus?.subscribe((events, name) => invalidate(causeOfEvents(events), name), {
    phase: 'evict',
  })

  function emit(event: CacheEvent): void {
    if (event.type !== 'warning') counts[counterOf[event.type]]++
    if (onEvent) onEvent(event)
    // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
    else if (event.type === 'warning') console.warn(event.warning.message)
  }

  async function invalidate(cause: InvalidationCause, name?: BatchName): Promise<void> {
    await invalidateTags(tagsOfCause(cause, strategy), name)
  }

  async function invalidateTags(tags: Tags, name?: BatchName): Promise<void> {
    if (tags !== 'all' && tags.length === 0) return
    await entries.invalidate(tags, name)
  }

  async function close(): Promise<void> {
    leaveBus?.()
    await entries.close()
  }

  return {
    options: { ...options, clock },
    byEntity: isByEntity(strategy),
    entries,
    emit,
    invalidate,
    changing: () => store?.changing?.(),
    close,
    [Symbol.asyncDispose]: close,
    stats: () => ({ ...counts, entries: entries.memory.size, bytes: entries.memory.bytes }),
    async purge(target) {
      if (target === 'all') await invalidateTags('all')
      else if ('key' in target) await entries.delete(target.key)
      else await invalidateTags(tagsHit([target], strategy))
    },
  }
}

function causeOfEvents(events: readonly InvalidationEvent[]): InvalidationCause {
  return {
    source: 'event',
    events,
    types: [...new Set(events.map((event) => event.entityType))],
    // A new entity is not in any entry, but it can belong to every list of its type.
    entities: events.map(({ entityType, operation, entityId }) => ({
      type: entityType,
      id: operation === 'create' ? undefined : entityId,
    })),
  }
}

/** Returns whether entries have tags for entities in addition to types. */
function isByEntity(strategy: InvalidationStrategy): boolean {
  return strategy === 'entities' || typeof strategy === 'function'
}

/** Returns the tags that a change affects. Throws the error of a custom strategy. */
function tagsOfCause(cause: InvalidationCause, strategy: InvalidationStrategy): Tags {
  // If the bus missed events, a strategy cannot limit the change.
  const isGap = cause.source === 'event' && cause.types.includes('*')
  if (strategy === 'all' || isGap) return 'all'
  return tagsHit(targetsOf(cause, strategy), strategy)
}

/** Returns the tags for the targets. Without targets, it returns no tags. */
function tagsHit(targets: readonly InvalidationTarget[] | 'all', strategy: InvalidationStrategy): Tags {
  // `*` means that anything can have changed.
  if (targets === 'all' || targets.some(({ type }) => type === '*')) return 'all'
  return targets.length > 0 ? tagsOfTargets(targets, isByEntity(strategy)) : []
}

function targetsOf(
  cause: InvalidationCause,
  strategy: Exclude<InvalidationStrategy, 'all'>,
): readonly InvalidationTarget[] | 'all' {
  if (typeof strategy === 'function') return strategy(cause)
  return strategy === 'entities' ? cause.entities : cause.types.map((type) => ({ type }))
}
