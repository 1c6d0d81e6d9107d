import { z } from 'zod'
import { origin } from '../http/cors.ts'
import type { SocketLimitsConfig } from '../http/http-types.ts'
import { count, functionValue, liveOptions, milliseconds, type OptionsOf } from '../option-values.ts'
import type { AnswerSections, LiveQueryConfig, ResponseCacheConfig } from './answer-types.ts'

type DeferConfig = NonNullable<AnswerSections['defer']>
type DeferOptions = Exclude<NonNullable<AnswerSections['defer']>, false | string>

/** The config's `liveQuery`. */
export const liveQuery: z.ZodType<false | LiveQueryConfig> = z.union([
  z.literal(false),
  z.strictObject({
    batch: z
      .strictObject({
        enabled: z.boolean().optional(),
        debounceMs: milliseconds.optional(),
        maxBatchSize: count.optional(),
        maxWaitMs: milliseconds.optional(),
      })
      .optional(),
    maxSubscriptions: count.optional(),
    skipUnchanged: z.boolean().optional(),
    matchEntityId: z.boolean().optional(),
    fields: z.record(z.string(), liveOptions).optional(),
    defaults: liveOptions.optional(),
    varyHeaders: z.array(z.string()).optional(),
    contextKey: functionValue().optional(),
    revalidate: functionValue().optional(),
    revalidateSeconds: count.optional(),
    eventNames: z.boolean().optional(),
    updateFields: z.enum(['payload', 'extensions']).optional(),
    allowedOrigins: z.array(origin).optional(),
    sockets: z
      .strictObject({
        maxSubscriptionsPerSocket: count.optional(),
        maxMessageBytes: count.min(1).optional(),
        keepAliveMs: milliseconds.optional(),
      } satisfies OptionsOf<SocketLimitsConfig>)
      .optional(),
  } satisfies OptionsOf<LiveQueryConfig>) as z.ZodType<LiveQueryConfig>,
])

/** The config's `defer`. */
export const defer: z.ZodType<DeferConfig> = z.union([
  z.literal(false),
  z.enum(['default', 'production', 'development', 'disabled']),
  z.strictObject({
    enabled: z.boolean().optional(),
    maxDeferredFragments: count.optional(),
    fragmentTimeoutMs: milliseconds.optional(),
    maxTotalTimeoutMs: milliseconds.optional(),
    multipartBoundary: z.string().optional(),
    strategy: z.enum(['auto', 'streaming', 'eager']).optional(),
  } satisfies OptionsOf<DeferOptions>) as z.ZodType<DeferOptions>,
])

/** The config's `responseCache`. */
export const responseCache: z.ZodType<boolean | ResponseCacheConfig> = z.union([
  z.boolean(),
  z.strictObject({
    maxSize: count.optional(),
    maxBytes: count.optional(),
    defaultTtlMs: milliseconds.optional(),
    staleWhileRevalidateMs: milliseconds.optional(),
    invalidateOnMutation: z.boolean().optional(),
    varyHeaders: z.array(z.string()).optional(),
    prefix: z.string().optional(),
    strategy: z.union([z.enum(['types', 'entities', 'all']), functionValue()]).optional(),
    idFields: z.array(z.string()).optional(),
    ignoredTypes: z.array(z.string()).optional(),
    ttlMsBySchemaCoordinate: z.record(z.string(), milliseconds).optional(),
    session: functionValue().optional(),
    enabled: functionValue().optional(),
    clientMaxAge: z.boolean().optional(),
  } satisfies OptionsOf<ResponseCacheConfig>) as z.ZodType<ResponseCacheConfig>,
])
