import { atLeast, flag, type KnownOptions, LIVE_OPTIONS, type LiveOptions, texts } from '@vinyasa/base'
import type { InvalidationBus } from '@vinyasa/invalidation'
import type { LiveQueryStore } from './store/store.ts'
import { STORE_OPTIONS, type LiveQueryStoreOptions } from './options.ts'

export interface UseLiveQueryOptions extends LiveQueryStoreOptions {
  /** Shared with code that invalidates by itself. Default: one of its own, made from the options above. */
  readonly store?: LiveQueryStore | undefined
  /** The bus on which mutations announce what they changed. Default: none; call `store.invalidate`. */
  readonly bus?: Pick<InvalidationBus, 'subscribe' | 'isInTouch' | 'maxAgeMs'> | undefined
  /** Live options by name of the `Query` field; each wins over the field's `extensions.liveQuery`. */
  readonly fields?: Readonly<Record<string, LiveOptions>> | undefined
  /** For root fields that say nothing themselves; `{ enabled: true }` lets every query be live. */
  readonly defaults?: LiveOptions | undefined
  /**
   * Returns a key: subscriptions whose key is equal may share one execution. `null`: share with nobody.
   * Headers that sources read separate besides. Required where a source cannot tell what it reads. Default: a
   * digest of the headers in `varyHeaders` and of the `connection_init` payload.
   */
  readonly contextKey?: ((context: Record<string, unknown>) => string | null) | undefined
  /**
   * Request headers that results depend on, besides those that sources read. Default `authorization` and `cookie`; none
   * where `contextKey` says who asks.
   */
  readonly varyHeaders?: readonly string[] | undefined
  /**
   * Runs with the fresh context before a re-execution; `false` or an exception ends the subscriptions of the group
   * with an `error` message.
   */
  readonly revalidate?: ((context: Record<string, unknown>) => boolean | Promise<boolean>) | undefined
  /**
   * When who asks ceases to be known, in milliseconds since 1970: the subscription ends then with `UNAUTHENTICATED`.
   * Asked once, with the context in which it was asked. Default: never.
   */
  readonly expiresAt?: ((context: Record<string, unknown>) => number | undefined) | undefined
  /** Least time between two calls of `revalidate` for one group. Default 30. */
  readonly revalidateSeconds?: number | undefined
  /**
   * Whether the events of streams are called `next`, as the protocol of graphql-sse has it. `false`: those that an
   * `EventSource` asks for have no name, of subscriptions too, so that its `onmessage` hears them. Default `true`.
   */
  readonly eventNames?: boolean | undefined
}

export const USE_OPTIONS: KnownOptions<UseLiveQueryOptions> = {
  ...STORE_OPTIONS,
  store: true,
  bus: true,
  fields: { '*': LIVE_OPTIONS },
  defaults: LIVE_OPTIONS,
  contextKey: true,
  varyHeaders: texts,
  revalidate: true,
  expiresAt: true,
  revalidateSeconds: atLeast(0),
  eventNames: flag,
}
