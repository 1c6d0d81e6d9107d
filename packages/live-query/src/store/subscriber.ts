import type { GraphQLError } from 'graphql'
import type { Delivery } from './update.ts'
import type { LiveResult, Version } from './version.ts'
import type { LivePlan } from '../document/live-plan.ts'
import type { EntityFinder } from '../triggers/identifiers.ts'

/** The channel that receives the updates of a subscription. */
export interface LiveQueryChannel {
  /**
   * Returns whether the channel accepts an update. Otherwise the newest update waits; call `flush` of the subscription
   * when the channel is ready.
   */
  ready(): boolean
  next(delivery: Delivery): void
  /** The last call. The query completed, or errors ended it. */
  end(errors?: readonly GraphQLError[]): void
}

/** The queue of one subscription. It holds at most one version, the newest. */
export class Subscriber {
  readonly id: string
  readonly #channel: LiveQueryChannel
  readonly #onError: (error: unknown) => void
  #last: Version | undefined
  #waiting: Version | undefined
  #revision = 0
  #ended = false

  constructor(id: string, channel: LiveQueryChannel, onError: (error: unknown) => void) {
    this.id = id
    this.#channel = channel
    this.#onError = onError
  }

  /** Whether a version waits for the channel. */
  get isBehind(): boolean {
    return this.#waiting !== undefined
  }

  /** Returns whether the version contains changes for this subscriber. */
  isNews(version: Version): boolean {
    return (this.#waiting ?? this.#last)?.content !== version.content
  }

  /** Returns whether this subscriber keeps the version in memory. */
  keeps(version: Version): boolean {
    return this.#last === version || this.#waiting === version
  }

  offer(version: Version): void {
    if (this.#ended) return
    this.#waiting?.release()
    this.#waiting = version
    version.keep()
    this.flush()
  }

  flush(): void {
    const version = this.#waiting
    if (!version || this.#ended) return
    try {
      if (!this.#channel.ready()) return
      this.#waiting = undefined
      const base = this.#last
      this.#last = version
      base?.release()
      this.#revision += 1
      this.#channel.next({
        version,
        base,
        revision: this.#revision,
        batched: base !== undefined && version.events - base.events > 1,
      })
    } catch (error) {
      this.#onError(error)
    }
  }

  end(errors?: readonly GraphQLError[]): void {
    if (this.#ended) return
    this.leave()
    try {
      this.#channel.end(errors)
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Ends the subscription without further messages. */
  leave(): void {
    this.#ended = true
    this.#waiting?.release()
    this.#last?.release()
    this.#waiting = undefined
    this.#last = undefined
  }
}

/** Executes the query once. A rejection with `EndLiveQuery` ends the subscriptions. Other errors are delivered. */
export type LiveQueryExecute = (run: LiveQueryRun) => Promise<LiveResult>

interface LiveQueryRun {
  /** Aborts when no subscriber waits for the result. */
  readonly signal: AbortSignal
  /** Whether this is the first execution of the group. */
  readonly first: boolean
  /** The client of the run. `undefined` if there are several clients, or if the client is unknown. */
  readonly client: string | undefined
}

/** A live subscription for `register`. */
export interface LiveQueryRegistration {
  /** Unique in the store. Default: a new id. */
  readonly id?: string | undefined
  /** Registrations with equal keys share one execution. `null` disables sharing. */
  readonly key: string | null
  /** The operation without the caller. Runs of equal operations start consecutively. Default: a unique value. */
  readonly operation?: string | undefined
  readonly plan: LivePlan
  /** Whether the result depends on no header and is public. Default `false`. */
  readonly public?: boolean | undefined
  /** Time at which the subscription ends with `UNAUTHENTICATED`, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined
  readonly execute: LiveQueryExecute
  /** Bytes that `execute` keeps during the subscription. Default 0. */
  readonly bytes?: number | undefined
  /** The client, for `LiveQueryRun.client`. */
  readonly client?: string | undefined
  /** Required if the store has `matchEntityId`. */
  readonly entities?: (() => EntityFinder) | undefined
  readonly channel: LiveQueryChannel
}

export interface LiveQuerySubscription {
  readonly id: string
  readonly plan: LivePlan
  /** Must be called when the channel accepts updates again. */
  flush(): void
}
