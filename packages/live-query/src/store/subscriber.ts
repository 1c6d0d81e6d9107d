import type { GraphQLError } from 'graphql'
import type { Delivery } from './update.ts'
import type { Version } from './version.ts'

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
