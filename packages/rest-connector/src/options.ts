import type { InvalidationBus } from '@vinyasa/invalidation'
import type { BreakerOptions } from './retry/breaker.ts'
import type { RestEndpoint } from './declare/endpoint-options.ts'
import type { TypeDefinitions } from './declare/type-definitions.ts'
import type { RequestInterceptor } from './interceptors/interceptor.ts'
import type { LogBodiesOptions, Logger } from './call/log-bodies.ts'
import type { ObserveAttempt } from './call/observe.ts'
import type { Clock } from '@vinyasa/base'
import type { PlanEvent, SourceNames } from '@vinyasa/source-kit'
import type { NameValues } from './templates/query-template.ts'
import type { RetryOptions } from './retry/retry-policy.ts'
import type { ResponseTransformer } from './call/transformer.ts'
import type { Int64Mode } from './json/scalars.ts'

/** A connector. Specification: "REST connector". */
export interface RestConnectorOptions extends SourceNames {
  /** `http` or `https`; endpoints' paths are appended, and no request leaves its origin and path. */
  readonly baseUrl: string
  readonly endpoints: readonly RestEndpoint[]
  /** Named types that endpoints use in `returnType` and `args`: objects, inputs, enums, unions. Default: none. */
  readonly types?: TypeDefinitions | undefined
  /**
   * Types by further names that statements of endpoints may have for them (`triggers`, `dependsOn`, `changes`, `invalidates`):
   * those of the schemas of an OpenAPI document. Default: none.
   */
  readonly typeNames?: Readonly<Record<string, string>> | undefined
  /** Milliseconds one attempt may take, headers and body together. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds a call may take with all its attempts and waits. Default 60,000, or the endpoint's `timeoutMs` if that is more. */
  readonly totalTimeoutMs?: number | undefined
  /** Sent with every request. Values may hold `{variable}`. */
  readonly defaultHeaders?: NameValues | undefined
  /** Names of inbound headers to pass on, from `context.request`. Default: none. */
  readonly forwardHeaders?: readonly string[] | undefined
  /** Default: the `default` preset of {@link retryPresets}; what is left out is taken from it. */
  readonly retry?: Partial<RetryOptions> | undefined
  /** Turns retries off. */
  readonly noRetry?: boolean | undefined
  /** Stops calling an upstream that mostly fails. Default: off; `true`: with the defaults. */
  readonly breaker?: BreakerOptions | boolean | undefined
  /** Keeps up to that many GET responses, least recently used out first. Default 0: no cache. */
  readonly cacheSize?: number | undefined
  /**
   * Limit in bytes of the memory of all kept responses together; one alone is kept only up to a sixteenth of
   * it. Default 67 108 864 (64 MiB).
   */
  readonly cacheMaxBytes?: number | undefined
  /**
   * Milliseconds a cached response is used at most. Default 60,000. A response's own `max-age` or `Expires` may say less,
   * and what is `no-store`, `no-cache` or `private` is not kept (RFC 9111).
   */
  readonly cacheTtlMs?: number | undefined
  /**
   * Whether the `Cache-Control`, `Expires` and `Age` of responses limit how long a response cache, and HTTP caches of
   * clients, keep results that are made of them. Default true. `false`: the lifetimes of the response cache alone count.
   */
  readonly limitsResponseCache?: boolean | undefined
  /** Run in order, once per attempt; may change method, URL, headers and body, or throw. */
  readonly interceptors?: readonly RequestInterceptor[] | undefined
  /** Lets interceptors send requests outside `baseUrl`. Default false. */
  readonly allowOriginChange?: boolean | undefined
  /** Makes the value that GraphQL gets out of a response; runs after `responsePath`. */
  readonly transformer?: ResponseTransformer | undefined
  /** Logs redacted bodies, 4 KiB of each. For development: refused when `NODE_ENV` is `production`, unless forced. */
  readonly logBodies?: boolean | LogBodiesOptions | undefined
  /**
   * Lets clients see what failed: names of connector and endpoint and the reason in messages, attempts, and request and
   * response in `extensions.upstream`. For development. Default false: only a code and the status.
   */
  readonly exposeErrors?: boolean | undefined
  /**
   * 64-bit integers, `Long`, in answers: `string` (default) as digits, or `number-when-safe` as numbers up to 2^53 and as
   * digits past that. Arguments take both.
   */
  readonly int64?: Int64Mode | undefined
  /** Decoded bytes that a response may have. Default 10,000,000. */
  readonly maxResponseBytes?: number | undefined
  /**
   * Members of lists and objects that a JSON response may have, counted before it is parsed; it may be nested 200 levels
   * deep. Default 500,000.
   */
  readonly maxResponseItems?: number | undefined
  /** Calls to this connector that one GraphQL operation may make. Default 200; 0: no limit. */
  readonly maxRequestsPerOperation?: number | undefined
  /** Connections kept to the origin at most. Further requests wait, and are sent by clients in turn. Default 128. */
  readonly maxConnections?: number | undefined
  /**
   * Milliseconds after which a connection takes no more requests, so that its name is looked up again and requests reach the
   * addresses that it has now. Default 30,000; 0: as old as it gets. Where a proxy or the platform's fetch is used it says nothing.
   */
  readonly maxConnectionAgeMs?: number | undefined
  /** The bus on which mutations are announced, and which evicts cached responses. */
  readonly bus?: InvalidationBus | undefined
  /**
   * Answers queries whose fields are all of endpoints and their batched joins by plans, beside root fields of other
   * sources with plans: the selected members go from the response to JSON without being executed one by one. What a plan does not reach is executed as without plans,
   * and so is all of a connector with a `transformer`. Default true.
   */
  readonly plans?: boolean | undefined
  /** Is told which operations are planned, and why others are not. */
  readonly onPlan?: ((event: PlanEvent) => void) | undefined
  /** Sees every attempt start and end, for metrics and traces. */
  readonly observe?: ObserveAttempt | undefined
  /** Default: `console`. */
  readonly logger?: Logger | undefined
  /** Environment variables, for proxies (`HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`) and `NODE_ENV`. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Default: the platform's. */
  readonly clock?: Clock | undefined
  /** Numbers in [0, 1) for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}
