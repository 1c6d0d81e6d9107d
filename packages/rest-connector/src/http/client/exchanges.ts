import { FairQueue } from '@vinyasa/base'

interface Begins {
  begin(): void
}

/** The exchanges with one origin: as many at a time as there may be connections. Others wait, by turns of those who ask. */
export class Exchanges {
  readonly #most: number
  readonly #onIdle: () => void
  readonly #waiting = new FairQueue<Begins>()
  #active = 0
  #isServing = false

  constructor(most: number, onIdle: () => void = () => {}) {
    this.#most = most
    this.#onIdle = onIdle
  }

  /** Begins one, now or in its turn; its end is to be told. False: it finds no place among those that wait. */
  run(exchange: Begins, caller: unknown): boolean {
    if (this.#active >= this.#most) return this.#waiting.add(exchange, caller)
    this.#active++
    exchange.begin()
    return true
  }

  /** It waits no longer; does nothing for one that has begun. */
  leave(exchange: Begins): void {
    this.#waiting.delete(exchange)
  }

  /** One is over. */
  end(): void {
    this.#active--
    // One may be over as soon as it begins, as all are once the transport is closed.
    if (this.#isServing) return
    this.#isServing = true
    while (this.#active < this.#most && this.#waiting.size > 0) {
      this.#active++
      this.#waiting.next()?.begin()
    }
    this.#isServing = false
    if (this.#active === 0) this.#onIdle()
  }
}
