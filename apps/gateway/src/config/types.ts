import type { FederationConfig } from '../federation/types.ts'
import type { IResolvers } from '@graphql-tools/utils'
import type { TracerProvider } from '@opentelemetry/api'
import type { DeferPreset, DeferSplitterOptions } from '@vinyasa/defer-splitter'
import type { GrpcSourceOptions } from '@vinyasa/grpc-source'
import type { UseLiveQueryOptions } from '@vinyasa/live-query'
import type { LiveServerOptions } from '@vinyasa/live-query/ws'
import type { OpenApiOptions, RestConnectorOptions } from '@vinyasa/rest-connector'
import type { ResponseCacheOptions } from '@vinyasa/response-cache'
import type { Plugin } from 'graphql-yoga'
import type { GraphqlConfig, ServerConfig } from '../http/http-types.ts'
import type {
  AccessConfig,
  ApqConfig,
  AuthConfig,
  PersistedDocumentsConfig,
  RateLimitConfig,
} from './access-types.ts'
import type { CostConfig } from '../cost/cost-types.ts'
import type { NatsConfig, RedisConfig } from './broker-types.ts'

/** Options of the log: what is written, and how. */
export interface LogConfig {
  /** Default `info`; `silent` writes nothing. */
  readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined
  /** `pretty` is for people, `json` a line of JSON for each entry. Default: `pretty`; production `json`. */
  readonly format?: 'json' | 'pretty' | undefined
  /** Further names whose values are never logged. */
  readonly redact?: readonly string[] | undefined
  /** Bytes of lines that may wait to be written; further lines are dropped and counted. Default 1_048_576. */
  readonly maxWaitingBytes?: number | undefined
}

/** One gRPC backend: the options of `createGrpcSource`; paths are relative to the config file. */
export interface GrpcSourceConfig extends Omit<
  GrpcSourceOptions,
  'name' | 'bus' | 'clock' | 'random' | 'logger' | 'onError' | 'watch'
> {}

/** The document of a REST backend, and what becomes of it: the options of `importOpenApi`. */
export interface OpenApiConfig extends Omit<OpenApiOptions, 'source' | 'taken' | 'baseUrl' | 'env'> {
  /** Path of the document, JSON or YAML; others that it refers to are read too. Either this or `url`. */
  readonly file?: string | undefined
  /**
   * Address that the document is downloaded from at each start and reload, within the bounds of `download`.
   * If it cannot be had, the gateway does not start. Either this or `file`.
   */
  readonly url?: string | undefined
}

/** One REST backend: the options of `createRestConnector`. */
export interface RestSourceConfig extends Omit<
  RestConnectorOptions,
  'baseUrl' | 'endpoints' | 'bus' | 'clock' | 'random' | 'env' | 'logger'
> {
  /** May be left out beside `openapi`, whose document names a server. */
  readonly baseUrl?: string | undefined
  /** May be left out beside `openapi`. */
  readonly endpoints?: RestConnectorOptions['endpoints'] | undefined
  /**
   * An OpenAPI 3 or Swagger 2 document, or its path or URL: its operations become endpoints, before those of `endpoints`. What
   * cannot be served is left out and noted. A name that the config declares itself, a gRPC source has, or a REST source
   * before this one, gets this source's before it (`shopGetPet`, `ShopPet`), which is noted.
   */
  readonly openapi?: string | OpenApiConfig | undefined
  /**
   * A GET path that answers 2xx while the API is well, for `/health/ready`. Default: any answer to a HEAD of `baseUrl`
   * will do; `false`: nobody is asked, and the API counts as well.
   */
  readonly healthPath?: string | false | undefined
}

/** The options of `useLiveQuery`. */
export interface LiveQueryConfig extends Omit<
  UseLiveQueryOptions,
  'store' | 'bus' | 'clock' | 'random' | 'onError' | 'expiresAt'
> {
  /**
   * Origins whose pages may open a socket, beside the gateway's own, or patterns of them between slashes; `*`: any page
   * that sends no cookies. Others are refused with 403. Default: what `graphql.cors` lists.
   */
  readonly allowedOrigins?: readonly (string | RegExp)[] | undefined
  /** Limits of what each WebSocket, and all of them together, may make the gateway hold. */
  readonly sockets?: SocketLimitsConfig | undefined
}

/** Limits of WebSockets: options of `attachLiveServer`, with its defaults. */
export type SocketLimitsConfig = Pick<
  LiveServerOptions,
  | 'maxSubscriptionsPerSocket'
  | 'maxMessageBytes'
  | 'maxBufferedBytes'
  | 'maxBufferedBytesInAll'
  | 'connectionInitTimeoutMs'
  | 'keepAliveMs'
  | 'closeTimeoutMs'
>

/** `POST /invalidate`: backends announce here what they changed by themselves. */
export interface InvalidateConfig {
  /** At least 16 characters; compared in constant time. */
  readonly secret: string
  /** The request header that holds it. Default `x-invalidate-secret`. */
  readonly header?: string | undefined
  /** The path it is posted to. Default `/invalidate`. */
  readonly path?: string | undefined
}

/** The options of `useResponseCache`. */
export interface ResponseCacheConfig extends Omit<
  ResponseCacheOptions,
  'bus' | 'clock' | 'onEvent' | 'store' | 'redisUrl' | 'access'
> {}

/** Facts about a field that types cannot show. */
export interface DependencyStatement {
  /** Types that a mutation changes besides what its result is made of. `[]`: none; `['*']`: any. */
  readonly changes?: readonly string[] | undefined
  /** Types of which the field is computed besides those that it shows. `[]`: none; `['*']`: any. */
  readonly dependsOn?: readonly string[] | undefined
  /**
   * Request headers by which the answers of a field with a resolver of the config differ; `[]`: it is the same for
   * everybody. Default: all that any source forwards, and the token, and no cache on the way keeps it. On other fields it
   * adds to what their source says.
   */
  readonly asker?: readonly string[] | undefined
}

/** A Yoga or Envelop plugin of the config. */
export type ConfigPlugin = Plugin & {
  /**
   * Names of all request headers that change what the plugin does to results, or tells resolvers by their context; `[]`:
   * none. Left out: nobody knows, and the response cache needs `session`, live queries `contextKey`.
   * `Object.assign(usePlugin(), { readsHeaders: [] })`
   */
  readonly readsHeaders?: readonly string[] | undefined
}

/** Metrics for Prometheus. */
export interface MetricsConfig {
  /** The path it is served at. Default `/metrics`. */
  readonly path?: string | undefined
  /** Scrapers send it as `Authorization: Bearer <token>`. Default: nobody is asked. */
  readonly token?: string | undefined
}

/** OpenTelemetry traces: request, operation, each call of a backend; W3C trace context in and out. */
export interface TracingConfig {
  /**
   * The provider that makes spans. Default: the one that is registered with `@opentelemetry/api`, as its Node
   * SDK does.
   */
  readonly tracerProvider?: TracerProvider | undefined
}

/** The content of a `gateway.config.*` file. */
export interface GatewayConfig {
  /** The preset that every switch starts from. Default `development`. */
  readonly preset?: 'development' | 'production' | undefined
  /** Options of the HTTP server: where and how it listens. */
  readonly server?: ServerConfig | undefined
  /** Options of the log: what is written, and how. */
  readonly log?: LogConfig | undefined
  /** The GraphQL endpoint. */
  readonly graphql?: GraphqlConfig | undefined
  /** gRPC backends by name. */
  readonly grpc?: Readonly<Record<string, GrpcSourceConfig>> | undefined
  /** REST backends by name. */
  readonly rest?: Readonly<Record<string, RestSourceConfig>> | undefined
  /**
   * `redis://host:6379`: gateways with the same Redis tell each other what changed and share cached responses.
   * Default: each for itself.
   */
  readonly redisUrl?: string | undefined
  /** The same, for a Redis behind Sentinel, a cluster, or certificates of one's own; in place of `redisUrl`. */
  readonly redis?: RedisConfig | undefined
  /**
   * Gateways with the same NATS tell each other what changed, each with a cache of its own; beside Redis it carries the
   * changes, and Redis the rest. Default: none.
   */
  readonly nats?: NatsConfig | undefined
  /** Live queries; `false` turns them off. Fields are live where their source says so. */
  readonly liveQuery?: false | LiveQueryConfig | undefined
  /** Caches the results of queries; `true` takes the defaults. Default false. */
  readonly responseCache?: boolean | ResponseCacheConfig | undefined
  /**
   * Statements by schema coordinate, for any field: `{ 'Org.memberCount': { dependsOn: ['User'] } }`. `vinyasa check`
   * lists the fields that lack one.
   */
  readonly dependencies?: Readonly<Record<string, DependencyStatement>> | undefined
  /**
   * `@defer`: a preset, options, or `false`. Default: the preset of the same name as `preset`. How large answers may be
   * `graphql.limits` says.
   */
  readonly defer?:
    | false
    | DeferPreset
    | Omit<DeferSplitterOptions, 'clock' | 'maxAnswerBytes' | 'maxAnswerObjects'>
    | undefined
  /** Authentication: how the gateway knows who asks. Default: nobody is known. */
  readonly auth?: AuthConfig | undefined
  /** Rules for who may have what. Default: everyone may have everything. */
  readonly access?: AccessConfig | undefined
  /** Default: documents have no ids. */
  readonly persistedDocuments?: PersistedDocumentsConfig | undefined
  /** Automatic persisted queries; `true` takes the defaults. Default false. */
  readonly apq?: boolean | ApqConfig | undefined
  /** How often clients may ask. Default: as often as they like. */
  readonly rateLimit?: RateLimitConfig | undefined
  /** How much one operation may ask for. */
  readonly cost?: CostConfig | undefined
  /** Default: off. */
  readonly invalidate?: InvalidateConfig | undefined
  /** Default true; production false, as `/metrics` is answered to everyone unless it has a token. */
  readonly metrics?: boolean | MetricsConfig | undefined
  /** Default false. */
  readonly tracing?: boolean | TracingConfig | undefined
  /**
   * `/status`: a page for browsers with the health of backends, the cache's hit rate, live queries and the last errors
   * by code. It asks nobody who they are. Default true; production false.
   */
  readonly status?: boolean | undefined
  /**
   * The gateway as a subgraph of Apollo Federation 2, over all of its sources and `typeDefs`: `true` for the entities that
   * say so themselves. Default false.
   */
  readonly federation?: boolean | FederationConfig | undefined
  /** Further Yoga or Envelop plugins. They stand before the response cache, so that they see hits like misses. */
  readonly plugins?: readonly ConfigPlugin[] | undefined
  /**
   * SDL that adds to the schema of the sources, under the names that clients know: `extend type Order { … }`, types with
   * fields of the sources' types, root fields.
   */
  readonly typeDefs?: string | readonly string[] | undefined
  /**
   * Resolvers for `typeDefs`; their context holds `sources`, each callable by its name. What they get as their parent has
   * the names that clients know.
   */
  readonly resolvers?: IResolvers | undefined
}
