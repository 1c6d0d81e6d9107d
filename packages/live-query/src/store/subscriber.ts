import type { GraphQLError } from 'graphql'
import type { Delivery } from './update.ts'
import type { Version } from './version.ts'

/** The channel that takes a subscription's updates. */
export interface LiveQueryChannel {
  /** Whether an update can be taken now. While not, the newest waits; call `flush` of the subscription once it can. */
  ready(): boolean
  next(delivery: Delivery): void
  /** The last call: completed, or ended by an error. */
  end(errors?: readonly GraphQLError[]): void
}

/** One subscription's mailbox: holds one version at most, the newest. */
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

  /** It was given something that its channel has not taken. */
  get isBehind(): boolean {
    return this.#waiting !== undefined
  }

  /** Whether the version says something that this subscriber was not told. */
  isNews(version: Version): boolean {
    return (this.#waiting ?? this.#last)?.content !== version.content
  }

  /** Whether the version stays in memory for this subscriber. */
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

  /** Left by its own will: nothing more is sent. */
  leave(): void {
    this.#ended = true
    this.#waiting?.release()
    this.#last?.release()
    this.#waiting = undefined
    this.#last = undefined
  }
}
