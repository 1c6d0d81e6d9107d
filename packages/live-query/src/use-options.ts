import { atLeast, flag, type KnownOptions, LIVE_OPTIONS, type LiveOptions, texts } from '@vinyasa/core'
import type { InvalidationBus } from '@vinyasa/invalidation'
import type { LiveQueryStore } from './store/store.ts'
import { STORE_OPTIONS, type LiveQueryStoreOptions } from './options.ts'

export interface UseLiveQueryOptions extends LiveQueryStoreOptions {
  /** A store shared with code that invalidates it directly. Default: a new store, made from the options above. */
  readonly store?: LiveQueryStore | undefined
  /** The bus with the invalidation events of mutations. Default: none; call `store.invalidate` instead. */
  readonly bus?: Pick<InvalidationBus, 'subscribe' | 'isInTouch' | 'maxAgeMs'> | undefined
  /** Options by name of the `Query` field; each option takes precedence over the field's `extensions.liveQuery`. */
  readonly fields?: Readonly<Record<string, LiveOptions>> | undefined
  /** Options for root fields without options. `{ enabled: true }` allows `@live` on every query. */
  readonly defaults?: LiveOptions | undefined
  /**
   * Fields that identify an entity, in order of preference, for `matchEntityId`. Default: `extensions.idFields` of the
   * schema, or `['id']`.
   */
  readonly idFields?: readonly string[] | undefined
  /**
   * Returns a key; subscriptions with equal keys can share an execution. `null` disables sharing. Headers that
   * sources read are compared too. Required if a source cannot declare what it reads. Default: a digest of the
   * headers in `varyHeaders` and of the `connection_init` payload.
   */
  readonly contextKey?: ((context: Record<string, unknown>) => string | null) | undefined
  /**
   * Request headers that results depend on, in addition to headers that sources read. Default `authorization` and
   * `cookie`, or none if `contextKey` is set.
   */
  readonly varyHeaders?: readonly string[] | undefined
  /**
   * Runs with the new context before a re-execution. The subscriptions of the group end with an `error` message if it
   * returns `false` or throws.
   */
  readonly revalidate?: ((context: Record<string, unknown>) => boolean | Promise<boolean>) | undefined
  /**
   * Returns when the caller's credentials expire, in milliseconds since 1970. The subscription then ends with
   * `UNAUTHENTICATED`. Called once, with the context of the subscription. Default: never.
   */
  readonly expiresAt?: ((context: Record<string, unknown>) => number | undefined) | undefined
  /** Minimum time between two calls of `revalidate` for one group, in seconds. Default 30. */
  readonly revalidateSeconds?: number | undefined
  /**
   * Whether events of streams have the name `next`, as in the graphql-sse protocol. `false` omits the name in streams
   * for `EventSource`, also of subscriptions, so that `onmessage` receives them. Default `true`.
   */
  readonly eventNames?: boolean | undefined
}

export const USE_OPTIONS: KnownOptions<UseLiveQueryOptions> = {
  ...STORE_OPTIONS,
  store: true,
  bus: true,
  fields: { '*': LIVE_OPTIONS },
  defaults: LIVE_OPTIONS,
  idFields: texts,
  contextKey: true,
  varyHeaders: texts,
  revalidate: true,
  expiresAt: true,
  revalidateSeconds: atLeast(0),
  eventNames: flag,
}
