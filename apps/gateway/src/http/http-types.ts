import type { LiveServerOptions } from '@vinyasa/live-query/ws'
import type { useUploads } from '@vinyasa/node-handler'
import type { AnswerLimits } from '@vinyasa/source-kit'
import type { ExampleOperation } from '../graphiql/examples.ts'

/** Bounds of files that are streamed: the options of `useUploads`. */
export type UploadsConfig = Omit<NonNullable<Parameters<typeof useUploads>[0]>, 'maxFieldBytes'>

/** Options of the HTTP server: where and how it listens. */
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
   * Time the answer to a whole request has to begin; over it the answer is 504, `ANSWER_TIMEOUT`, the connection is closed, and
   * what the request began is cancelled. Default 60_000 ms; 0: no limit.
   */
  readonly answerTimeoutMs?: number | undefined
  /**
   * How long a connection is kept without a request; clients are told, and it is closed a second later. Longer than
   * whatever is in front keeps its own: a request on a connection that is just being closed is lost. Default 5_000 ms;
   * production 75_000; 0: for ever.
   */
  readonly keepAliveTimeoutMs?: number | undefined
  /**
   * Connections open at once, WebSockets included; over it those are closed that have been idle for longest, or the new
   * ones. Three quarters of the files that the process may open at most, where the system says. Default 0: that many;
   * production 10_000.
   */
  readonly maxConnections?: number | undefined
  /**
   * Requests of all connections whose answer has not begun; one more is answered with 503 and `Retry-After`. Default
   * 2000; 0: any number.
   */
  readonly maxInFlight?: number | undefined
  /**
   * The part of `maxInFlight`, and of `maxConnections`, that one address may have, behind a trusted proxy the client's. Its further
   * requests are answered with 429, `TOO_MANY_AT_ONCE`, its further connections closed. Of IPv6 the first 64 bits count.
   * Default 0.5; 1: all.
   */
  readonly maxAddressShare?: number | undefined
  /** A connection on which an answer waits this long without a byte leaving is cut. Default 30_000 ms; 0: never. */
  readonly sendTimeoutMs?: number | undefined
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

/**
 * Limits of one document, of the JSON that it comes in, and of its answer; 0 turns one off. Over a limit the answer is HTTP
 * 400, `DOCUMENT_LIMIT_EXCEEDED`, or `RESPONSE_TOO_LARGE`.
 */
export interface LimitsConfig extends AnswerLimits {
  /** Fields inside one another, fragments expanded. Default 100; production 15. */
  readonly maxDepth?: number | undefined
  /** Lexical tokens. Default 20_000; production 1000. */
  readonly maxTokens?: number | undefined
  /** Aliases, those of `__typename` included. Default 1000; production 30. */
  readonly maxAliases?: number | undefined
  /** How often one field may stand in one selection set. Default 1000; production 30. */
  readonly maxDuplicateFields?: number | undefined
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
  /** Whether clients may ask for the schema, and validation errors say "Did you mean …". Default true; production false. */
  readonly introspection?: boolean | undefined
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
   * Bytes of memory for documents that were parsed, validated and planned, so that they are answered at once when they come
   * again; those that nobody asks for leave first. An ordinary one takes 10 to 30 kB: raise it where clients send more than
   * some 3,000 different ones in turn. Default 67 108 864 (64 MiB). 0 keeps none.
   */
  readonly documentCacheMaxBytes?: number | undefined
  /**
   * Streams the files of multipart requests to where they go, beside `maxBodyBytes`. Default: such requests are read
   * whole, and have no more bytes than others.
   */
  readonly uploads?: UploadsConfig | undefined
  /** Limits of one document, of the JSON that it comes in, and of its answer. */
  readonly limits?: LimitsConfig | undefined
}

/** Limits of WebSockets: options of `attachLiveServer`, with its defaults. */
export type SocketLimitsConfig = Pick<
  LiveServerOptions,
  'maxSubscriptionsPerSocket' | 'maxMessageBytes' | 'keepAliveMs'
>

/** `POST /invalidate`: backends announce here what they changed by themselves. */
export interface InvalidateConfig {
  /** At least 16 characters; compared in constant time. */
  readonly secret: string
}

/** The sections of the config about how clients reach the gateway. */
export interface HttpSections {
  /** Options of the HTTP server: where and how it listens. */
  readonly server?: ServerConfig | undefined
  /** The GraphQL endpoint. */
  readonly graphql?: GraphqlConfig | undefined
  /** Default: off. */
  readonly invalidate?: InvalidateConfig | undefined
}
