import type { IResolvers } from '@graphql-tools/utils'
import type { TracerProvider } from '@opentelemetry/api'
import type { DeferPreset, DeferSplitterOptions } from '@vinyasa/defer-splitter'
import type { GrpcSourceOptions } from '@vinyasa/grpc-source'
import type { UseLiveQueryOptions } from '@vinyasa/live-query'
import type { LiveServerOptions } from '@vinyasa/live-query/ws'
import type { OpenApiOptions, RestConnectorOptions } from '@vinyasa/rest-connector'
import type { ResponseCacheOptions } from '@vinyasa/response-cache'
import type { Plugin } from 'graphql-yoga'
import type { ExampleOperation } from '../graphiql/examples.ts'
import type {
  AccessConfig,
  ApqConfig,
  AuthConfig,
  PersistedDocumentsConfig,
  RateLimitConfig,
} from './access-types.ts'

/** Bounds of files that are streamed. */
export interface UploadsConfig {
  /** Bytes of one file. Default 100_000_000. */
  readonly maxFileBytes?: number | undefined
  /** Files of one request. Default 10. */
  readonly maxFiles?: number | undefined
  /** How long a file is waited for that comes behind one which nobody reads. Default 10_000 ms. */
  readonly maxIdleMs?: number | undefined
}

/** Where and how the gateway listens. */
export interface ServerConfig {
  /** Default: the environment variable `PORT`, else 4000; 0 takes a free port. */
  readonly port?: number | undefined
  /** Default `127.0.0.1`; `0.0.0.0` to be reachable from outside. */
  readonly host?: string | undefined
  /** Time a client has to send its headers. Default 10_000 ms; 0: no limit. */
  readonly headersTimeoutMs?: number | undefined
  /** Time a request has to arrive whole, files included. Default 30_000 ms, or `headersTimeoutMs` if longer; 0: no limit. */
  readonly requestTimeoutMs?: number | undefined
  /**
   * Connections open at once, WebSockets included; further ones are closed unheard. Default 0: no limit; production
   * 10_000.
   */
  readonly maxConnections?: number | undefined
  /**
   * Requests that one connection may have without an answer, sent one behind the other; behind them it is not read.
   * Default 32; 0: any number.
   */
  readonly maxUnansweredPerConnection?: number | undefined
  /**
   * Requests of all connections whose answer has not begun; one more is answered with 503 and `Retry-After`. Default
   * 2000; 0: any number.
   */
  readonly maxInFlight?: number | undefined
  /** A connection on which an answer waits this long without a byte leaving is cut. Default 30_000 ms; 0: never. */
  readonly sendTimeoutMs?: number | undefined
  /**
   * Bytes of answers that may wait on all connections; over it those that have not moved for a second are cut, the
   * largest first. Default 67_108_864; 0: any number.
   */
  readonly maxUnsentBytes?: number | undefined
  /**
   * Proxies in front, whose `X-Forwarded-*` and the like is taken: addresses, ranges (`10.0.0.0/8`), `loopback`,
   * `private`; `true`: whoever connects. Of anyone else these headers are taken away. Default false.
   */
  readonly trustProxy?: boolean | readonly string[] | undefined
  /** Answers 200 while the process serves. Default `/health/live`. */
  readonly livenessPath?: string | undefined
  /** Answers 200 while requests may be sent here, else 503. Default `/health/ready`. */
  readonly readinessPath?: string | undefined
  /** On SIGTERM, time for requests in flight. Default 30_000 ms. */
  readonly graceMs?: number | undefined
}

export interface LogConfig {
  /** Default `info`; `silent` writes nothing. */
  readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined
  /** Default: `pretty` in development, `json` in production. */
  readonly format?: 'json' | 'pretty' | undefined
  /** Further names whose values are never logged. */
  readonly redact?: readonly string[] | undefined
  /** Bytes of lines that may wait to be written; further lines are dropped and counted. Default 1_048_576. */
  readonly maxWaitingBytes?: number | undefined
}

/** Limits of one document and of the JSON that it comes in; 0 turns one off. Over a limit the answer is HTTP 400, `DOCUMENT_LIMIT_EXCEEDED`. */
export interface LimitsConfig {
  /** Fields inside one another, fragments expanded. Default 100; production 15. */
  readonly maxDepth?: number | undefined
  /** Lexical tokens. Default 20_000; production 1000. */
  readonly maxTokens?: number | undefined
  /** Aliases, those of `__typename` included. Default 1000; production 30. */
  readonly maxAliases?: number | undefined
  /** Directives at one place. Default 100; production 5. */
  readonly maxDirectives?: number | undefined
  /** How often one field may stand in one selection set. Default 1000; production 30. */
  readonly maxDuplicateFields?: number | undefined
  /** 1 a leaf, 2 an object, times 1.5 a level of depth. Default 0; production 5000. */
  readonly maxCost?: number | undefined
  /** Objects and lists inside one another in the JSON of a request, counted before it is parsed. Default 100. */
  readonly maxBodyDepth?: number | undefined
  /** Members and items in the JSON of a request, all together, counted before it is parsed. Default 50_000. */
  readonly maxBodyItems?: number | undefined
}

/** Which pages of other origins may ask, and how (the Fetch Standard's CORS protocol). */
export interface CorsConfig {
  /**
   * Origins that browsers may call from. A text between slashes, or a `RegExp`, is a pattern of whole origins:
   * `/https:\/\/[\w-]+\.example\.com/`. `*`: any page, without credentials.
   */
  readonly origins: readonly (string | RegExp)[]
  /** Whether they may send cookies and `Authorization`. Default true; never for `*`. */
  readonly credentials?: boolean | undefined
  /** Default: what the preflight asks for. */
  readonly methods?: readonly string[] | undefined
  /** Headers that requests may have. Default: what the preflight asks for. */
  readonly allowedHeaders?: readonly string[] | undefined
  /** Headers of answers that pages may read. Default `x-request-id`, `x-cache`, `age`. */
  readonly exposedHeaders?: readonly string[] | undefined
  /** How long browsers may remember the answer to a preflight. Default: as long as they do by themselves. */
  readonly maxAgeSeconds?: number | undefined
}

/** The GraphQL endpoint. Each switch has its value from the preset unless set here. */
export interface GraphqlConfig {
  /** Its path; live queries and `@defer` have `/live` and `/defer` below it too. Default `/graphql`. */
  readonly path?: string | undefined
  /** GraphiQL for browsers, served from the gateway itself. Default true; production false. */
  readonly graphiql?: boolean | undefined
  /** Operations that GraphiQL opens with, a tab each; `variables` is JSON. Default: made for the schema. */
  readonly examples?: readonly ExampleOperation[] | undefined
  /** Default true; production false. */
  readonly introspection?: boolean | undefined
  /** "Did you mean …" in validation errors. Default true; production false. */
  readonly suggestions?: boolean | undefined
  /** Unexpected errors reach clients as `Unexpected error.` Default true. */
  readonly maskedErrors?: boolean | undefined
  /** Refuses requests that a browser may send across sites without asking. Default false; production true. */
  readonly csrfPrevention?: boolean | undefined
  /** Origins that browsers may call from, or all of CORS. Default false: no CORS headers. */
  readonly cors?: false | readonly (string | RegExp)[] | CorsConfig | undefined
  /** Operations in one HTTP request. Default 1. */
  readonly batching?: number | undefined
  /** Bytes of a request's body; over it: HTTP 413. Default 1_048_576. */
  readonly maxBodyBytes?: number | undefined
  /**
   * Streams the files of multipart requests to where they go, beside `maxBodyBytes`. Default: such requests are read
   * whole, and have no more bytes than others.
   */
  readonly uploads?: UploadsConfig | undefined
  readonly limits?: LimitsConfig | undefined
}

/** One gRPC backend: the options of `createGrpcSource`; paths are relative to the config file. */
export interface GrpcSourceConfig extends Omit<
  GrpcSourceOptions,
  'name' | 'bus' | 'clock' | 'random' | 'logger' | 'onError' | 'watch'
> {}

/** The document of a REST backend, and what becomes of it: the options of `importOpenApi`. */
export interface OpenApiConfig extends Omit<OpenApiOptions, 'source' | 'taken' | 'baseUrl' | 'env'> {
  /** Path of the document, JSON or YAML; others that it refers to are read too. */
  readonly file: string
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
   * An OpenAPI 3 or Swagger 2 document, or its path: its operations become endpoints, before those of `endpoints`. What
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
   * Origins whose pages may open a socket, beside the gateway's own; `*`: any page that sends no cookies. Others are
   * refused with 403. Default: what `graphql.cors` lists.
   */
  readonly allowedOrigins?: readonly string[] | undefined
  /** What each WebSocket, and all of them, may make the gateway hold. */
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
  /** Default `/invalidate`. */
  readonly path?: string | undefined
}

/** The options of `useResponseCache`. */
export interface ResponseCacheConfig extends Omit<
  ResponseCacheOptions,
  'bus' | 'clock' | 'onEvent' | 'store' | 'redisUrl' | 'access'
> {}

/** What types cannot show of a field. */
export interface DependencyStatement {
  /** Types that a mutation changes besides what its result is made of. `[]`: none; `['*']`: any. */
  readonly changes?: readonly string[] | undefined
  /** Types of which the field is computed besides those that it shows. `[]`: none; `['*']`: any. */
  readonly dependsOn?: readonly string[] | undefined
}

/** Metrics for Prometheus. */
export interface MetricsConfig {
  /** Default `/metrics`. */
  readonly path?: string | undefined
  /** Scrapers send it as `Authorization: Bearer <token>`. Default: nobody is asked. */
  readonly token?: string | undefined
}

/** OpenTelemetry traces: request, operation, each call of a backend; W3C trace context in and out. */
export interface TracingConfig {
  /** Default: the provider that is registered with `@opentelemetry/api`, as its Node SDK does. */
  readonly tracerProvider?: TracerProvider | undefined
}

/** What a `gateway.config.*` file holds. */
export interface GatewayConfig {
  /** Where every switch starts. Default `development`. */
  readonly preset?: 'development' | 'production' | undefined
  readonly server?: ServerConfig | undefined
  readonly log?: LogConfig | undefined
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
  /** Live queries; `false` turns them off. Fields are live where their source says so. */
  readonly liveQuery?: false | LiveQueryConfig | undefined
  /** Caches the results of queries; `true` takes the defaults. Default false. */
  readonly responseCache?: boolean | ResponseCacheConfig | undefined
  /**
   * Statements by schema coordinate, for any field: `{ 'Org.memberCount': { dependsOn: ['User'] } }`. `vinyasa check`
   * lists the fields that lack one.
   */
  readonly dependencies?: Readonly<Record<string, DependencyStatement>> | undefined
  /** `@defer`: a preset, options, or `false`. Default: the preset of the same name as `preset`. */
  readonly defer?: false | DeferPreset | Omit<DeferSplitterOptions, 'clock'> | undefined
  /** Who asks. Default: nobody is known. */
  readonly auth?: AuthConfig | undefined
  /** Who may have what. Default: everyone everything. */
  readonly access?: AccessConfig | undefined
  /** Default: documents have no ids. */
  readonly persistedDocuments?: PersistedDocumentsConfig | undefined
  /** Automatic persisted queries; `true` takes the defaults. Default false. */
  readonly apq?: boolean | ApqConfig | undefined
  /** How often clients may ask. Default: as often as they like. */
  readonly rateLimit?: RateLimitConfig | undefined
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
  /** Further Yoga or Envelop plugins. They stand before the response cache, so that they see hits like misses. */
  readonly plugins?: readonly Plugin[] | undefined
  /** Extends the schema of the sources. */
  readonly typeDefs?: string | readonly string[] | undefined
  /** Resolvers for `typeDefs`; their context holds `sources`, each callable by its name. */
  readonly resolvers?: IResolvers | undefined
}
