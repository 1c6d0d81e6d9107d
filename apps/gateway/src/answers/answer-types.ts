import type { DeferPreset, DeferSplitterOptions } from '@vinyasa/defer-splitter'
import type { UseLiveQueryOptions } from '@vinyasa/live-query'
import type { LiveServerOptions } from '@vinyasa/live-query/ws'
import type { ResponseCacheOptions } from '@vinyasa/response-cache'
import type { SocketLimitsConfig } from '../http/http-types.ts'

/** The options of `useLiveQuery`. */
export interface LiveQueryConfig extends Omit<
  UseLiveQueryOptions,
  'store' | 'bus' | 'clock' | 'random' | 'onError' | 'expiresAt' | 'maxFailures' | 'changedFieldsDepth'
> {
  /**
   * Origins whose pages may open a socket, beside the gateway's own, or patterns of them between slashes; `*`: any page
   * that sends no cookies. Others are refused with 403. Default: what `graphql.cors` lists.
   */
  readonly allowedOrigins?: readonly (string | RegExp)[] | undefined
  /**
   * Where the fields of an update beside `data` and `errors` stand on a socket: in the payload, or in its
   * `extensions.liveQuery`, as over SSE. The latter is for clients of graphql-live-query that apply patches. Default `payload`.
   */
  readonly updateFields?: LiveServerOptions['updateFields']
  /** Limits of what each WebSocket, and all of them together, may make the gateway hold. */
  readonly sockets?: SocketLimitsConfig | undefined
}

/** The options of `useResponseCache`. */
export interface ResponseCacheConfig extends Omit<
  ResponseCacheOptions,
  'bus' | 'clock' | 'onEvent' | 'store' | 'redisUrl' | 'access' | 'ignoredReads' | 'exposeReasons'
> {}

/** The sections of the config about how answers are kept, kept up to date, and divided. */
export interface AnswerSections {
  /** Live queries; `false` turns them off. Fields are live where their source says so. */
  readonly liveQuery?: false | LiveQueryConfig | undefined
  /** Caches the results of queries; `true` takes the defaults. Default false. */
  readonly responseCache?: boolean | ResponseCacheConfig | undefined
  /**
   * `@defer`: a preset, options, or `false`. Default: the preset of the same name as `preset`. How large answers may be
   * `graphql.limits` says.
   */
  readonly defer?:
    | false
    | DeferPreset
    | Omit<DeferSplitterOptions, 'clock' | 'endpoint' | 'maxAnswerBytes' | 'maxAnswerObjects' | 'maxPatches'>
    | undefined
}
