import type { InvalidationBus } from '@vinyasa/invalidation'
import type { BreakerOptions } from './retry/breaker.ts'
import type { RestEndpoint } from './declare/endpoint-options.ts'
import type { TypeDefinitions } from './declare/type-definitions.ts'
import type { RequestInterceptor } from './interceptors/interceptor.ts'
import type { LogBodiesOptions, Logger } from './call/log-bodies.ts'
import type { ObserveAttempt } from './call/observe.ts'
import type { Clock } from '@vinyasa/core'
import type { PlanEvent, SourceNames } from '@vinyasa/source-kit'
import type { NameValues } from './templates/query-template.ts'
import type { RetryOptions } from './retry/retry-policy.ts'
import type { ResponseTransformer } from './call/transformer.ts'
import type { Int64Mode } from './json/scalars.ts'

/** Options of {@link createRestConnector}. Specification: "REST connector". */
export interface RestConnectorOptions extends SourceNames {
  /** An `http` or `https` URL. Endpoint paths are appended, and requests cannot leave its origin and path. */
  readonly baseUrl: string
  /** The endpoints of the connector. */
  readonly endpoints: readonly RestEndpoint[]
  /** Named types for `returnType` and `args`: objects, inputs, enums, unions. Default: none. */
  readonly types?: TypeDefinitions | undefined
  /**
   * Aliases of types that endpoints can use in `triggers`, `dependsOn`, `changes` and `invalidates`. An OpenAPI import sets
   * them to the schema names of its document. Default: none.
   */
  readonly typeNames?: Readonly<Record<string, string>> | undefined
  /** Timeout of one attempt in milliseconds, headers and body together. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /**
   * Timeout of a call in milliseconds, with all attempts and waits. Default 60,000, or the endpoint's `timeoutMs` if that is
   * longer.
   */
  readonly totalTimeoutMs?: number | undefined
  /** Headers of every request. Values can contain `{variable}`. */
  readonly defaultHeaders?: NameValues | undefined
  /** Names of client headers to forward, from `context.request`. Default: none. */
  readonly forwardHeaders?: readonly string[] | undefined
  /** Retry policy. Default: the `default` preset of {@link retryPresets}, which also fills in missing properties. */
  readonly retry?: Partial<RetryOptions> | undefined
  /** Disables retries. */
  readonly noRetry?: boolean | undefined
  /** Stops calls to an upstream while most of them fail. Default: off; `true` uses the defaults of the breaker. */
  readonly breaker?: BreakerOptions | boolean | undefined
  /** Number of GET responses to cache. The least recently used response is evicted first. Default 0: no cache. */
  readonly cacheSize?: number | undefined
  /**
   * Bytes of memory that all cached responses can use together. One response can use a sixteenth of it. Default 67 108 864
   * (64 MiB).
   */
  readonly cacheMaxBytes?: number | undefined
  /**
   * Maximum lifetime of a cached response in milliseconds. Default 60,000. `max-age` and `Expires` of the response can
   * shorten it. `no-store`, `no-cache` and `private` responses are not cached (RFC 9111).
   */
  readonly cacheTtlMs?: number | undefined
  /**
   * Applies the `Cache-Control`, `Expires` and `Age` headers of responses to results that use them. They limit how long a
   * response cache and clients' HTTP caches keep the results. Default true. `false`: only the response cache's own lifetimes
   * apply.
   */
  readonly limitsResponseCache?: boolean | undefined
  /** Interceptors run in order, once per attempt. They can change method, URL, headers and body, or throw. */
  readonly interceptors?: readonly RequestInterceptor[] | undefined
  /** Allows interceptors to send requests outside `baseUrl`. Default false. */
  readonly allowOriginChange?: boolean | undefined
  /** Converts a response to the value for GraphQL. It runs after `responsePath`. */
  readonly transformer?: ResponseTransformer | undefined
  /** Logs redacted bodies, up to 4 KiB each. For development: refused if `NODE_ENV` is `production`, unless forced. */
  readonly logBodies?: boolean | LogBodiesOptions | undefined
  /**
   * Shows clients what failed: connector, endpoint and reason in the message, the number of attempts, and request and
   * response in `extensions.upstream`. For development. Default false; clients then get only a code and the status.
   */
  readonly exposeErrors?: boolean | undefined
  /**
   * Format of 64-bit integers (`Long`) in responses. `string` writes digits. `number-when-safe` writes numbers up to 2^53
   * and digits above that. Arguments accept both formats. Default `string`.
   */
  readonly int64?: Int64Mode | undefined
  /** Maximum decoded bytes of a response. Default 10,000,000. */
  readonly maxResponseBytes?: number | undefined
  /**
   * Maximum number of values in lists and objects of a JSON response, counted before it is parsed. JSON can be nested 200
   * levels deep. Default 500,000.
   */
  readonly maxResponseItems?: number | undefined
  /** Maximum calls to this connector by one GraphQL operation. Default 200; 0: no limit. */
  readonly maxRequestsPerOperation?: number | undefined
  /** Maximum connections to the origin. Additional requests wait, and clients take turns. Default 128. */
  readonly maxConnections?: number | undefined
  /**
   * Age in milliseconds after which a connection accepts no more requests. The name is then looked up again, so that
   * requests reach its current addresses. It has no effect with a proxy or with the platform's fetch. Default 30,000; 0: no
   * limit.
   */
  readonly maxConnectionAgeMs?: number | undefined
  /** The bus on which mutations publish invalidation events. Its events also evict cached responses. */
  readonly bus?: InvalidationBus | undefined
  /**
   * Executes queries with plans if they select only endpoints, batched joins and root fields of other sources with plans. A
   * plan writes the selected properties directly from the response to JSON. graphql-js executes other operations, and all
   * operations of a connector with a `transformer`. Default true.
   */
  readonly plans?: boolean | undefined
  /** Called with each operation that is planned or not planned, and with the reason. */
  readonly onPlan?: ((event: PlanEvent) => void) | undefined
  /** Called when an attempt starts and ends, for metrics and traces. */
  readonly observe?: ObserveAttempt | undefined
  /** Target of `logBodies`. Default: `console`. */
  readonly logger?: Logger | undefined
  /** Environment variables for proxies (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`) and `NODE_ENV`. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The clock of timeouts, retries and the cache. Default: the platform's. */
  readonly clock?: Clock | undefined
  /** Returns numbers in [0, 1) for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}
