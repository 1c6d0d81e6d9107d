import { LEAST_POLL_INTERVAL_MS, type LiveOptions, VOLATILITY_NAMES } from '@vinyasa/base'
import { z } from 'zod'
import { count, functionValue, milliseconds, origin, type OptionsOf } from './primitives.ts'
import type { LiveQueryConfig, SocketLimitsConfig } from './types.ts'

/** The specification's "Live query option", for one field. */
export const liveOptions: z.ZodType<LiveOptions> = z.strictObject({
  enabled: z.boolean().optional(),
  strategy: z.enum(['INVALIDATION', 'POLLING', 'HASH_DIFF']).optional(),
  triggers: z.array(z.string()).optional(),
  dependsOn: z.array(z.string()).optional(),
  throttleMs: milliseconds.optional(),
  pollIntervalMs: milliseconds.min(LEAST_POLL_INTERVAL_MS).optional(),
  ttlSeconds: count.optional(),
  maxConnections: count.optional(),
  volatility: z.enum(VOLATILITY_NAMES).optional(),
  filter: z.enum(['backend', 'gateway']).optional(),
})

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
    joinWindowMs: milliseconds.optional(),
    maxFailures: count.optional(),
    skipUnchanged: z.boolean().optional(),
    matchEntityId: z.boolean().optional(),
    changedFieldsDepth: count.optional(),
    fields: z.record(z.string(), liveOptions).optional(),
    defaults: liveOptions.optional(),
    varyHeaders: z.array(z.string()).optional(),
    contextKey: functionValue().optional(),
    revalidate: functionValue().optional(),
    revalidateSeconds: count.optional(),
    allowedOrigins: z.array(origin).optional(),
    sockets: z
      .strictObject({
        maxSubscriptionsPerSocket: count.optional(),
        maxMessageBytes: count.min(1).optional(),
        maxBufferedBytes: count.optional(),
        maxBufferedBytesInAll: count.optional(),
        connectionInitTimeoutMs: milliseconds.optional(),
        keepAliveMs: milliseconds.optional(),
        closeTimeoutMs: milliseconds.optional(),
      } satisfies OptionsOf<SocketLimitsConfig>)
      .optional(),
  } satisfies OptionsOf<LiveQueryConfig>) as z.ZodType<LiveQueryConfig>,
])
