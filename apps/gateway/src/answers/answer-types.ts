import type { DeferPreset, DeferSplitterOptions } from '@vinyasa/defer-splitter'
import type { UseLiveQueryOptions } from '@vinyasa/live-query'
import type { LiveServerOptions } from '@vinyasa/live-query/ws'
import type { ResponseCacheOptions } from '@vinyasa/response-cache'
import type { SocketLimitsConfig } from '../http/http-types.ts'

/** Live queries: the options of `useLiveQuery`. */
export interface LiveQueryConfig extends Omit<
  UseLiveQueryOptions,
  'store' | 'bus' | 'idFields' | 'platform' | 'onError' | 'expiresAt' | 'changedFieldsDepth'
> {
  /**
   * Origins whose pages can open a WebSocket, in addition to the gateway's own origin. A string between slashes is a
   * pattern. `*` allows any page that sends no cookies. Other origins are refused with HTTP 403. Default: the origins
   * of `graphql.cors`.
   */
  readonly allowedOrigins?: readonly (string | RegExp)[] | undefined
  /**
   * Place of the fields other than `data` and `errors` in WebSocket updates: the payload (`payload`), or
   * `extensions.liveQuery` of the payload as over SSE (`extensions`). Use `extensions` for clients of
   * graphql-live-query that apply patches. Default `payload`.
   */
  readonly updateFields?: LiveServerOptions['updateFields']
  /** Limits of each WebSocket. */
  readonly sockets?: SocketLimitsConfig | undefined
}

/** The response cache: the options of `useResponseCache`. */
export interface ResponseCacheConfig extends Omit<
  ResponseCacheOptions,
  | 'bus'
  | 'platform'
  | 'idFields'
  | 'onEvent'
  | 'store'
  | 'redisUrl'
  | 'access'
  | 'ignoredReads'
  | 'exposeReasons'
> {}

/** The sections of the config about live queries, the response cache and `@defer`. */
export interface AnswerSections {
  /** Live queries. `false` turns them off. A field is live if its source or `liveQuery.defaults` enables it. */
  readonly liveQuery?: false | LiveQueryConfig | undefined
  /** Caches the results of queries. `true` uses the defaults. Default false. */
  readonly responseCache?: boolean | ResponseCacheConfig | undefined
  /**
   * `@defer`: a preset, options, or `false`. `graphql.limits` limits the size of responses. Default: the preset with
   * the same name as `preset`.
   */
  readonly defer?: false | DeferPreset | Omit<DeferSplitterOptions, 'endpoint'> | undefined
}
