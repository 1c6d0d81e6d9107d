import type { LiveServerOptions } from '@vinyasa/live-query/ws'
import type { useUploads } from '@vinyasa/node-handler'
import type { AnswerLimits } from '@vinyasa/source-kit'
import type { ExampleOperation } from '../graphiql/examples.ts'

/** Limits of streamed files: the options of `useUploads`. */
export type UploadsConfig = Omit<NonNullable<Parameters<typeof useUploads>[0]>, 'maxFieldBytes'>

/** Settings of the HTTP server: address, timeouts, limits and health checks. */
export interface ServerConfig {
  /** Port to listen on. 0 selects a free port. Default: the environment variable `PORT`, or 4000 if it is not set. */
  readonly port?: number | undefined
  /** Address to listen on. `0.0.0.0` accepts connections from other hosts. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Maximum time for a client to send its headers. 0 means no limit. Default 10_000 ms. */
  readonly headersTimeoutMs?: number | undefined
  /**
   * Maximum time for a complete request to arrive, including files. 0 means no limit. Default 30_000 ms, or
   * `headersTimeoutMs` if it is longer.
   */
  readonly requestTimeoutMs?: number | undefined
  /**
   * Maximum time from the arrival of the complete request to the start of its response. On timeout, the response is
   * HTTP 504 with `ANSWER_TIMEOUT`, the connection is closed, and the operation is cancelled. 0 means no limit. Default
   * 60_000 ms.
   */
  readonly answerTimeoutMs?: number | undefined
  /**
   * How long an idle connection stays open. Clients receive this time, and the gateway closes the connection a second
   * later. Use a longer time than the idle timeout of the proxy in front of the gateway, because requests on a closing
   * connection are lost. 0 means no limit. Default 5_000 ms; production 75_000.
   */
  readonly keepAliveTimeoutMs?: number | undefined
  /**
   * Maximum number of open connections, including WebSockets. Over the limit, the gateway closes the connections that
   * have been idle longest, or the new connection if all others are in use. The limit is never above three quarters of
   * the files that the process can open, if the system reports that number. 0 sets no other limit. Default 0;
   * production 10_000.
   */
  readonly maxConnections?: number | undefined
  /**
   * Maximum number of requests, over all connections, whose response has not started. More are refused with HTTP 503
   * and `Retry-After`. 0 means no limit. Default 2000.
   */
  readonly maxInFlight?: number | undefined
  /**
   * Share of `maxInFlight` and `maxConnections` that each client address can use, between 0 and 1. Requests through a
   * trusted proxy count for the address of the client. More requests get HTTP 429 with `TOO_MANY_AT_ONCE`, and more
   * connections are closed. Connections of trusted proxies are not limited. The first 64 bits of an IPv6 address count.
   * 1 means no limit per address. Default 0.5.
   */
  readonly maxAddressShare?: number | undefined
  /**
   * Maximum time in which no byte of a pending response can be sent. The connection is then closed. 0 means no limit.
   * Default 30_000 ms.
   */
  readonly sendTimeoutMs?: number | undefined
  /**
   * Proxies whose `X-Forwarded-*` headers and similar headers are used: addresses, ranges (`10.0.0.0/8`), `loopback` or
   * `private`. `true` trusts every peer. The headers are removed from requests of other peers. Default false.
   */
  readonly trustProxy?: boolean | readonly string[] | undefined
  /** Path that returns 200 while the process serves requests. Default `/health/live`. */
  readonly livenessPath?: string | undefined
  /**
   * Path that returns 200 while the gateway accepts requests and each `required` backend is up. It returns 503
   * otherwise. Default `/health/ready`.
   */
  readonly readinessPath?: string | undefined
  /** Maximum time for requests in flight to end after SIGTERM. Default 30_000 ms. */
  readonly graceMs?: number | undefined
}

/**
 * Limits of one document, of the JSON of its request, and of its response. 0 turns a limit off. Documents over a limit
 * are refused with HTTP 400 and `DOCUMENT_LIMIT_EXCEEDED`, responses with `RESPONSE_TOO_LARGE`.
 */
export interface LimitsConfig extends AnswerLimits {
  /** Maximum depth of nested fields, with fragments expanded. Default 100; production 15. */
  readonly maxDepth?: number | undefined
  /** Maximum number of lexical tokens. Default 20_000; production 1000. */
  readonly maxTokens?: number | undefined
  /** Maximum number of aliases, including aliases of `__typename`. Default 1000; production 30. */
  readonly maxAliases?: number | undefined
  /** Maximum number of times that one field occurs in one selection set. Default 1000; production 30. */
  readonly maxDuplicateFields?: number | undefined
  /** Maximum number of JSON properties and array items in a request, counted before parsing. Default 50_000. */
  readonly maxBodyItems?: number | undefined
}

/** Access from pages of other origins, with the CORS protocol of the Fetch Standard. */
export interface CorsConfig {
  /**
   * Origins whose pages can call the endpoint. A string between slashes, or a `RegExp`, is a pattern that must match
   * the complete origin: `/https:\/\/[\w-]+\.example\.com/`. `*` allows any page, without credentials.
   */
  readonly origins: readonly (string | RegExp)[]
  /** Whether pages can send cookies and `Authorization`. It is never allowed for `*`. Default true. */
  readonly credentials?: boolean | undefined
  /** Response headers that pages can read. Default `x-request-id`, `x-cache`, `age`. */
  readonly exposedHeaders?: readonly string[] | undefined
  /** How long browsers cache a preflight response. Default: the default of the browser. */
  readonly maxAgeSeconds?: number | undefined
}

/** The GraphQL endpoint. The preset sets the defaults. */
export interface GraphqlConfig {
  /** Path of the endpoint. Live queries and `@defer` also have `/live` and `/defer` below it. Default `/graphql`. */
  readonly path?: string | undefined
  /**
   * Whether browsers get GraphiQL at the path of the endpoint. The gateway serves all of its files. Default true;
   * production false.
   */
  readonly graphiql?: boolean | undefined
  /** Operations that GraphiQL opens, each in its own tab. Default: operations generated from the schema. */
  readonly examples?: readonly ExampleOperation[] | undefined
  /**
   * Whether clients can query the schema, and validation errors suggest names (`Did you mean …`). Default true;
   * production false.
   */
  readonly introspection?: boolean | undefined
  /** Whether clients get `Unexpected error.` instead of the message of an unexpected error. Default true. */
  readonly maskedErrors?: boolean | undefined
  /**
   * Whether to reject requests that browsers can send across sites without a preflight. Default false; production true.
   */
  readonly csrfPrevention?: boolean | undefined
  /** Origins whose pages can call the endpoint, or all CORS settings. Default false: no CORS headers. */
  readonly cors?: false | readonly (string | RegExp)[] | CorsConfig | undefined
  /** Maximum number of operations in one HTTP request. Default 1. */
  readonly batching?: number | undefined
  /** Maximum size of a request body in bytes. Larger requests get HTTP 413. Default 1_048_576. */
  readonly maxBodyBytes?: number | undefined
  /**
   * Maximum memory in bytes for parsed, validated and planned documents. The least recently used documents are evicted
   * first. A typical document takes 10 to 30 kB, so the default holds about 3,000 documents. Raise it if clients send
   * more different documents. 0 disables the cache. Default 67_108_864.
   */
  readonly documentCacheMaxBytes?: number | undefined
  /**
   * Streams the files of multipart requests to resolvers. `maxBodyBytes` then does not count them. Default: multipart
   * requests are read completely first, and `maxBodyBytes` limits them.
   */
  readonly uploads?: UploadsConfig | undefined
  /** Limits of one document, of the JSON of its request, and of its response. 0 turns a limit off. */
  readonly limits?: LimitsConfig | undefined
}

/** Limits of WebSockets: options of `attachLiveServer`, with the same defaults. */
export type SocketLimitsConfig = Pick<
  LiveServerOptions,
  'maxSubscriptionsPerSocket' | 'maxMessageBytes' | 'keepAliveMs'
>

/** `POST /invalidate`, where backends publish invalidation events for their own changes. */
export interface InvalidateConfig {
  /** The secret that backends send, at least 16 characters. It is compared in constant time. */
  readonly secret: string
}

/** The sections of the config about the HTTP server and its endpoints. */
export interface HttpSections {
  /** Settings of the HTTP server: address, timeouts, limits and health checks. */
  readonly server?: ServerConfig | undefined
  /** The GraphQL endpoint. The preset sets the defaults. */
  readonly graphql?: GraphqlConfig | undefined
  /** `POST /invalidate`, where backends publish invalidation events for their own changes. Default: off. */
  readonly invalidate?: InvalidateConfig | undefined
}
