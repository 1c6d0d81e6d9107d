import type { IResolvers } from '@graphql-tools/utils'
import type { Plugin } from 'graphql-yoga'
import { z } from 'zod'
import { access, auth, persistedDocuments } from '../access/access-schema.ts'
import { defer, liveQuery, responseCache } from '../answers/answer-schema.ts'
import { rateLimit } from '../rate-limit/rate-limit-schema.ts'
import { origin } from '../http/cors.ts'
import { count, milliseconds, typeNames, type OptionsOf, textValues } from '../option-values.ts'
import { grpcSource } from '../sources/grpc/schema.ts'
import { restSource } from '../sources/rest/schema.ts'
import { isProxyRange } from '../http/trusted-proxies.ts'
import { nats, redis } from '../redis/broker-schema.ts'
import type { DependencyStatement } from '../dependencies/own-code-types.ts'
import type {
  CorsConfig,
  GraphqlConfig,
  InvalidateConfig,
  LimitsConfig,
  ServerConfig,
  UploadsConfig,
} from '../http/http-types.ts'
import type { LogConfig } from '../logging/log-types.ts'
import type { MetricsConfig } from '../observability/observability-types.ts'
import type { GatewayConfig } from './types.ts'
import type { FederationConfig, FederationEntity } from '../federation/types.ts'
import type { CostConfig, CostRule, ListSizeConfig } from '../cost/cost-types.ts'

const name = z.string().min(1)
const weight = z.number().min(0)

const listSize = z.strictObject({
  assumedSize: count.optional(),
  slicingArguments: z.array(name).min(1).optional(),
  sizedFields: z.array(name).min(1).optional(),
  requireOneSlicingArgument: z.boolean().optional(),
} satisfies OptionsOf<ListSizeConfig>)

const rule = z.strictObject({
  weight: weight.optional(),
  arguments: z.record(name, weight).optional(),
  listSize: listSize.optional(),
} satisfies OptionsOf<CostRule>)

/** The config's `cost`. */
const cost: z.ZodType<CostConfig> = z.strictObject({
  max: count.optional(),
  includeExtensionMetadata: z.boolean().optional(),
  listSize: count.optional(),
  fields: z.record(z.string(), rule).optional(),
} satisfies OptionsOf<CostConfig>) as z.ZodType<CostConfig>

const entity: z.ZodType<FederationEntity> = z.strictObject({
  key: z.union([z.string(), z.array(z.string())]),
  field: z.union([z.string(), z.literal(false)]).optional(),
  args: textValues.optional(),
  itemKey: z.string().optional(),
} satisfies OptionsOf<FederationEntity>)

const federation: z.ZodType<boolean | FederationConfig> = z.union([
  z.boolean(),
  z.strictObject({
    entities: z.record(z.string(), entity).optional(),
    maxReferences: count.optional(),
  } satisfies OptionsOf<FederationConfig>),
])

const path = z
  .string()
  .regex(/^\/[^?#\s]*$/, 'expected a path that begins with "/" and contains no "?", "#" or whitespace')

const server = z.strictObject({
  port: z.number().int().min(0).max(65_535).optional(),
  host: z.string().optional(),
  headersTimeoutMs: milliseconds.optional(),
  requestTimeoutMs: milliseconds.optional(),
  answerTimeoutMs: milliseconds.optional(),
  keepAliveTimeoutMs: milliseconds.optional(),
  maxConnections: count.optional(),
  maxInFlight: count.optional(),
  maxAddressShare: z.number().gt(0).max(1).optional(),
  sendTimeoutMs: milliseconds.optional(),
  trustProxy: z
    .union([
      z.boolean(),
      z.array(
        z
          .string()
          .refine(
            isProxyRange,
            'expected "loopback", "private", an IP address, or a range such as "10.0.0.0/8"',
          ),
      ),
    ])
    .optional(),
  livenessPath: path.optional(),
  readinessPath: path.optional(),
  graceMs: milliseconds.optional(),
} satisfies OptionsOf<ServerConfig>)

const log = z.strictObject({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).optional(),
  format: z.enum(['json', 'pretty']).optional(),
  redact: z.array(z.string()).optional(),
} satisfies OptionsOf<LogConfig>)

const cors = z.union([
  z.literal(false),
  z.array(origin),
  z
    .strictObject({
      origins: z.array(origin),
      credentials: z.boolean().optional(),
      exposedHeaders: z.array(z.string()).optional(),
      maxAgeSeconds: count.optional(),
    } satisfies OptionsOf<CorsConfig>)
    .refine(({ origins, credentials }) => credentials !== true || !origins.includes('*'), {
      error:
        'CORS does not allow credentials with the origin "*"; list the allowed origins, or remove credentials',
      path: ['credentials'],
    }),
])

const graphql = z.strictObject({
  path: path.optional(),
  graphiql: z.boolean().optional(),
  examples: z.array(z.strictObject({ query: z.string(), variables: z.string().optional() })).optional(),
  introspection: z.boolean().optional(),
  maskedErrors: z.boolean().optional(),
  csrfPrevention: z.boolean().optional(),
  cors: cors.optional(),
  batching: count.min(1).optional(),
  maxBodyBytes: count.optional(),
  documentCacheMaxBytes: count.optional(),
  uploads: z
    .strictObject({
      maxFileBytes: count.optional(),
      maxFiles: count.min(1).optional(),
      maxIdleMs: milliseconds.optional(),
    } satisfies OptionsOf<UploadsConfig>)
    .optional(),
  limits: z
    .strictObject({
      maxDepth: count.optional(),
      maxTokens: count.optional(),
      maxAliases: count.optional(),
      maxDuplicateFields: count.optional(),
      maxBodyItems: count.optional(),
      maxAnswerObjects: count.optional(),
      maxAnswerBytes: count.optional(),
    } satisfies OptionsOf<LimitsConfig>)
    .optional(),
} satisfies OptionsOf<GraphqlConfig>)

const invalidate = z.strictObject({
  secret: z.string().min(16, 'expected at least 16 characters, for example from `openssl rand -hex 16`'),
} satisfies OptionsOf<InvalidateConfig>)

const metrics = z.union([
  z.boolean(),
  z.strictObject({
    token: z.string().min(1).optional(),
  } satisfies OptionsOf<MetricsConfig>),
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
  redis: redis.optional(),
  nats: nats.optional(),
  liveQuery: liveQuery.optional(),
  responseCache: responseCache.optional(),
  dependencies: z
    .record(
      z.string(),
      z.strictObject({
        changes: typeNames.optional(),
        dependsOn: typeNames.optional(),
        variesBy: z
          .array(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'expected the name of a request header'))
          .optional(),
      } satisfies OptionsOf<DependencyStatement>),
    )
    .optional(),
  defer: defer.optional(),
  auth: auth.optional(),
  access: access.optional(),
  persistedDocuments: persistedDocuments.optional(),
  apq: z.boolean().optional(),
  rateLimit: rateLimit.optional(),
  cost: cost.optional(),
  invalidate: invalidate.optional(),
  metrics: metrics.optional(),
  tracing: z.boolean().optional(),
  status: z.boolean().optional(),
  plugins: z
    .array(
      z.custom<Plugin>((value) => value !== null && typeof value === 'object', 'expected a plugin object'),
    )
    .optional(),
  federation: federation.optional(),
  typeDefs: z.union([z.string(), z.array(z.string())]).optional(),
  resolvers: z
    .custom<IResolvers>((value) => value !== null && typeof value === 'object', 'expected resolvers')
    .optional(),
} satisfies OptionsOf<GatewayConfig>)
