import { atLeast, flag, type KnownOptions, text, texts, wrongOption } from '@vinyasa/base'
import { configError, foreignOption, wrongOptions, twoParameters } from './errors.ts'
import type { ResponseCacheOptions } from './options.ts'

/**
 * Options of `@envelop/response-cache` that whoever comes from there may still have, and what replaces them
 * here; JavaScript would not complain of them.
 */
const namesElsewhere: Readonly<Record<string, string | undefined>> = {
  ttl: 'defaultTtlMs',
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
  ignoredTypes: texts,
  ttlMsBySchemaCoordinate: { '*': atLeast(0) },
  session: true,
  access: true,
  enabled: true,
  clientMaxAge: flag,
  exposeReasons: flag,
  onEvent: true,
  clock: true,
}

/** Throws RESPONSE_CACHE_CONFIG for what cannot work. */
export function checkOptions(options: ResponseCacheOptions): void {
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
