import type { IResolvers } from '@graphql-tools/utils'
import type { Plugin } from 'graphql-yoga'
import { z } from 'zod'
import { origin } from '../http/cors.ts'
import {
  count,
  milliseconds,
  typeNames,
  type OptionsOf,
  textValues,
  functionValue,
  headerName,
  liveOptions,
} from '../option-values.ts'
import { grpcSource } from '../sources/grpc/schema.ts'
import { restSource } from '../sources/rest/schema.ts'
import { isProxyRange } from '../http/trusted-proxies.ts'
import type { DependencyStatement } from '../dependencies/own-code-types.ts'
import type {
  CorsConfig,
  GraphqlConfig,
  InvalidateConfig,
  LimitsConfig,
  ServerConfig,
  UploadsConfig,
  SocketLimitsConfig,
} from '../http/http-types.ts'
import type { LogConfig } from '../logging/log-types.ts'
import type { MetricsConfig } from '../observability/observability-types.ts'
import type { GatewayConfig } from './types.ts'
import type { FederationConfig, FederationEntity } from '../federation/types.ts'
import type { CostConfig, CostRule, ListSizeConfig } from '../cost/cost-types.ts'
import type {
  AccessConfig,
  AccessRule,
  AuthConfig,
  IssuerConfig,
  JwtConfig,
  PersistedDocumentsConfig,
} from '../access/access-types.ts'
import { PUBLIC_KEY_ALGORITHMS, SECRET_ALGORITHMS } from '../access/tokens/algorithms.ts'
import type { RateLimitConfig, RateLimitRule } from '../rate-limit/rate-limit-types.ts'
import type { NatsConfig, RedisConfig } from '../redis/broker-types.ts'
import type { AnswerSections, LiveQueryConfig, ResponseCacheConfig } from '../answers/answer-types.ts'

const name = z.string().min(1)
const weight = z.number().min(0)

const listSize = z.strictObject({
  assumedSize: count.optional(),
  slicingArguments: z.array(name).min(1).optional(),
  sizedFields: z.array(name).min(1).optional(),
  requireOneSlicingArgument: z.boolean().optional(),
} satisfies OptionsOf<ListSizeConfig>)

const costRule = z.strictObject({
  weight: weight.optional(),
  arguments: z.record(name, weight).optional(),
  listSize: listSize.optional(),
} satisfies OptionsOf<CostRule>)

/** The config's `cost`. */
const cost: z.ZodType<CostConfig> = z.strictObject({
  max: count.optional(),
  includeExtensionMetadata: z.boolean().optional(),
  listSize: count.optional(),
  fields: z.record(z.string(), costRule).optional(),
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

const algorithm = z.enum([...PUBLIC_KEY_ALGORITHMS, ...SECRET_ALGORITHMS])

const issuer = z.strictObject({
  issuer: name,
  audience: z.union([name, z.array(name).min(1)]),
  jwksUri: z.string().optional(),
  secret: z
    .string()
    .min(32, 'expected at least 32 characters, for example from `openssl rand -hex 32`')
    .optional(),
  algorithms: z.array(algorithm).min(1).optional(),
} satisfies OptionsOf<IssuerConfig>)

/** The config's `auth`. */
const auth: z.ZodType<AuthConfig> = z.strictObject({
  jwt: z.strictObject({
    issuers: z.array(issuer).min(1),
    required: z.boolean().optional(),
    header: headerName.optional(),
    scheme: z.string().optional(),
    cookie: name.optional(),
    scopesClaim: name.optional(),
    forwardClaims: z.record(headerName, z.string()).optional(),
  } satisfies OptionsOf<JwtConfig>),
} satisfies OptionsOf<AuthConfig>) as z.ZodType<AuthConfig>

const names = z.union([z.array(name).min(1), z.array(z.array(name).min(1)).min(1)])

const accessRule = z
  .strictObject({
    authenticated: z.literal(true).optional(),
    scopes: names.optional(),
    policies: names.optional(),
  } satisfies OptionsOf<AccessRule>)
  .refine((given) => Object.values(given).some((value) => value !== undefined), {
    error: 'the rule has no conditions; set authenticated, scopes or policies, or remove the rule',
  })

/** The config's `access`. */
const access: z.ZodType<AccessConfig> = z.strictObject({
  fields: z.record(z.string(), accessRule).optional(),
  policies: z
    .record(
      z.string(),
      z.union([
        z.strictObject({ claim: name, is: z.array(z.union([z.string(), z.number(), z.boolean()])).min(1) }),
        functionValue(),
      ]),
    )
    .optional(),
  refuse: z.enum(['field', 'operation']).optional(),
} satisfies OptionsOf<AccessConfig>) as z.ZodType<AccessConfig>

/** The config's `persistedDocuments`. */
const persistedDocuments: z.ZodType<PersistedDocumentsConfig> = z.strictObject({
  from: z.union([name, z.array(name).min(1)]),
  mode: z.enum(['log', 'allow', 'only']).optional(),
} satisfies OptionsOf<PersistedDocumentsConfig>) as z.ZodType<PersistedDocumentsConfig>

const rateLimitRule = z
  .strictObject({
    by: z
      .union([
        z.literal('address'),
        z.strictObject({ claim: name }),
        z.strictObject({ header: headerName, trusted: z.boolean().optional() }),
      ])
      .optional(),
    max: count,
    windowSeconds: z.number().positive(),
    operations: z.array(name).min(1).optional(),
    fields: z.array(name).min(1).optional(),
    counts: z.enum(['requests', 'executions']).optional(),
  } satisfies OptionsOf<RateLimitRule>)
  .refine(({ counts, operations, fields }) => counts !== 'requests' || !(operations ?? fields), {
    error: 'a rule with operations or fields counts executions; set counts to executions, or remove counts',
    path: ['counts'],
  })

/** The config's `rateLimit`. */
const rateLimit: z.ZodType<RateLimitConfig> = z.strictObject({
  rules: z.array(rateLimitRule).min(1),
} satisfies OptionsOf<RateLimitConfig>) as z.ZodType<RateLimitConfig>

/** Of sentinels and nodes; without a port it is that which such servers have. */
const hosts = z
  .array(
    z.string().regex(/^(?:\[[\da-fA-F:.]+\]|[^\s:/@[\]]+)(?::\d+)?$/, 'expected host:port, or [IPv6]:port'),
  )
  .min(1)
const files = { ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() }

const redis: z.ZodType<RedisConfig> = z
  .strictObject({
    url: z.string().optional(),
    sentinels: hosts.optional(),
    name: z.string().min(1).optional(),
    sentinelUsername: z.string().optional(),
    sentinelPassword: z.string().optional(),
    cluster: hosts.optional(),
    username: z.string().optional(),
    password: z.string().optional(),
    db: count.optional(),
    tls: z.union([z.boolean(), z.strictObject({ ...files, serverName: z.string().optional() })]).optional(),
  })
  .refine(({ url, sentinels, cluster }) => [url, sentinels, cluster].filter((given) => given).length === 1, {
    error: 'expected exactly one of url, sentinels and cluster',
  })
  .refine(({ sentinels, name }) => (sentinels === undefined) === (name === undefined), {
    error: 'sentinels and name must be set together; name is the master that the sentinels watch',
  })
  .refine(
    ({ sentinels, sentinelUsername, sentinelPassword }) =>
      sentinels !== undefined || (sentinelUsername === undefined && sentinelPassword === undefined),
    {
      error:
        'sentinelUsername and sentinelPassword require sentinels; set sentinels, or remove the sentinel credentials',
    },
  )
  .refine(({ cluster, db }) => cluster === undefined || db === undefined, {
    error: 'a Redis cluster has only database 0; remove the setting db',
    path: ['db'],
  })

const nats: z.ZodType<NatsConfig> = z
  .strictObject({
    servers: z.union([z.string(), z.array(z.string()).min(1)]),
    user: z.string().optional(),
    password: z.string().optional(),
    token: z.string().optional(),
    tls: z.union([z.boolean(), z.strictObject(files)]).optional(),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    error: 'user and password must be set together',
  })
  .refine(({ user, token }) => user === undefined || token === undefined, {
    error: 'expected either user and password, or token',
    path: ['token'],
  })

type DeferConfig = NonNullable<AnswerSections['defer']>
type DeferOptions = Exclude<NonNullable<AnswerSections['defer']>, false | string>

/** The config's `liveQuery`. */
const liveQuery: z.ZodType<false | LiveQueryConfig> = z.union([
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
const defer: z.ZodType<DeferConfig> = z.union([
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
    ttlMsBySchemaCoordinate: z.record(z.string(), milliseconds).optional(),
    session: functionValue().optional(),
    enabled: functionValue().optional(),
    clientMaxAge: z.boolean().optional(),
  } satisfies OptionsOf<ResponseCacheConfig>) as z.ZodType<ResponseCacheConfig>,
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
  idFields: z.array(z.string()).optional(),
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
