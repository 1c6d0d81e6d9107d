import type { IResolvers } from '@graphql-tools/utils'
import type { TracerProvider } from '@opentelemetry/api'
import type { Plugin } from 'graphql-yoga'
import { z } from 'zod'
import { ConfigError } from '../errors.ts'
import { access, auth, persistedDocuments } from './access-schema.ts'
import { describeIssue } from './describe-issue.ts'
import { grpcSource } from './grpc-schema.ts'
import { liveQuery } from './live-schema.ts'
import { count, functionValue, milliseconds, typeNames, type OptionsOf } from './primitives.ts'
import { restSource } from './rest-schema.ts'
import { withSettingNames } from './specification-names.ts'
import type { GatewayConfig, ResponseCacheConfig } from './types.ts'

const server = z.strictObject({
  port: z.number().int().min(0).max(65_535).optional(),
  host: z.string().optional(),
  headersTimeoutMs: milliseconds.optional(),
  maxConnections: count.optional(),
  maxUnansweredPerConnection: count.optional(),
  maxInFlight: count.optional(),
  sendTimeoutMs: milliseconds.optional(),
  maxUnsentBytes: count.optional(),
  graceMs: milliseconds.optional(),
})

const log = z.strictObject({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).optional(),
  format: z.enum(['json', 'pretty']).optional(),
  redact: z.array(z.string()).optional(),
  maxWaitingBytes: count.optional(),
})

const graphql = z.strictObject({
  graphiql: z.boolean().optional(),
  examples: z.array(z.strictObject({ query: z.string(), variables: z.string().optional() })).optional(),
  introspection: z.boolean().optional(),
  suggestions: z.boolean().optional(),
  maskedErrors: z.boolean().optional(),
  csrfPrevention: z.boolean().optional(),
  cors: z.union([z.literal(false), z.array(z.string())]).optional(),
  batching: count.min(1).optional(),
  maxBodyBytes: count.optional(),
  limits: z
    .strictObject({
      maxDepth: count.optional(),
      maxTokens: count.optional(),
      maxAliases: count.optional(),
      maxDirectives: count.optional(),
      maxDuplicateFields: count.optional(),
      maxCost: count.optional(),
      maxBodyDepth: count.optional(),
      maxBodyItems: count.optional(),
    })
    .optional(),
})

const defer = z.union([
  z.literal(false),
  z.enum(['default', 'production', 'development', 'disabled']),
  z.strictObject({
    enabled: z.boolean().optional(),
    maxDeferredFragments: count.optional(),
    fragmentTimeoutMs: milliseconds.optional(),
    maxTotalTimeoutMs: milliseconds.optional(),
    multipartBoundary: z.string().optional(),
    strategy: z.enum(['auto', 'streaming', 'eager']).optional(),
    maxPatches: count.optional(),
    endpoint: z.string().optional(),
  }),
])

const path = z.string().startsWith('/')

const invalidate = z.strictObject({
  secret: z.string().min(16, 'expected at least 16 characters, for example of `openssl rand -hex 16`'),
  header: z.string().optional(),
  path: path.optional(),
})

const responseCache: z.ZodType<boolean | ResponseCacheConfig> = z.union([
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
    hitsAt: z.enum(['auto', 'params', 'execute']).optional(),
    clientMaxAge: z.boolean().optional(),
  } satisfies OptionsOf<ResponseCacheConfig>) as z.ZodType<ResponseCacheConfig>,
])

const metrics = z.union([
  z.boolean(),
  z.strictObject({ path: path.optional(), token: z.string().min(1).optional() }),
])

const tracing = z.union([
  z.boolean(),
  z.strictObject({
    tracerProvider: z
      .custom<TracerProvider>(
        (value) => typeof (value as { getTracer?: unknown } | null)?.getTracer === 'function',
        'expected a TracerProvider of OpenTelemetry',
      )
      .optional(),
  }),
])

/** All that a config may hold. */
export const gatewayConfig: z.ZodType<GatewayConfig> = z.strictObject({
  preset: z.enum(['development', 'production']).optional(),
  server: server.optional(),
  log: log.optional(),
  graphql: graphql.optional(),
  grpc: z.record(z.string(), grpcSource).optional(),
  rest: z.record(z.string(), restSource).optional(),
  redisUrl: z.string().optional(),
  liveQuery: liveQuery.optional(),
  responseCache: responseCache.optional(),
  dependencies: z
    .record(z.string(), z.strictObject({ changes: typeNames.optional(), dependsOn: typeNames.optional() }))
    .optional(),
  defer: defer.optional(),
  auth: auth.optional(),
  access: access.optional(),
  persistedDocuments: persistedDocuments.optional(),
  invalidate: invalidate.optional(),
  metrics: metrics.optional(),
  tracing: tracing.optional(),
  status: z.boolean().optional(),
  plugins: z
    .array(
      z.custom<Plugin>((value) => value !== null && typeof value === 'object', 'expected a plugin object'),
    )
    .optional(),
  typeDefs: z.union([z.string(), z.array(z.string())]).optional(),
  resolvers: z
    .custom<IResolvers>((value) => value !== null && typeof value === 'object', 'expected resolvers')
    .optional(),
})

/** Validates a config, whose settings may bear the specification's names. Throws {@link ConfigError}: one line that names the path and what was expected. */
export function parseConfig(value: unknown): GatewayConfig {
  const result = gatewayConfig.safeParse(withSettingNames(withoutSchema(value), gatewayConfig))
  if (result.success) return result.data
  const { issues } = result.error
  // A name that is misspelled is missing under the right one too: what was written says more.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  throw new ConfigError(issue ? describeIssue(issue, gatewayConfig) : 'the config is not valid')
}

/** Editors look there for the description of a file; it says nothing to the gateway. */
function withoutSchema(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  const { $schema: _, ...config } = value as Readonly<Record<string, unknown>>
  return config
}
