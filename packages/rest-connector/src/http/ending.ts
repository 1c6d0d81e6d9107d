import { setMaxListeners } from 'node:events'

/**
 * When and why a piece of work is over, for whoever takes part in it. It does inside the connector what an
 * `AbortSignal` does, without its price: making one costs more than all else that a call needs, and every call has
 * several. A signal is made for those outside who ask for one.
 */
export class Ending {
  #hasEnded = false
  #reason: unknown
  #listeners: Set<() => void> | undefined
  #controller: AbortController | undefined

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  get reason(): unknown {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#hasEnded) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  end(reason: unknown): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#reason = reason
    this.#controller?.abort(reason)
    const listeners = [...(this.#listeners ?? [])]
    this.#listeners = undefined
    for (const listener of listeners) listener()
  }

  /** Calls back once, at once if it is over already; the returned function lets go. */
  onEnd(listener: () => void): () => void {
    if (this.#hasEnded) {
      listener()
      return () => {}
    }
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
    return () => this.#listeners?.delete(listener)
  }
}

/** An ending that comes when one of the signals aborts; `release` lets go of them. */
export function followSignals(signals: readonly AbortSignal[]): {
  readonly ending: Ending | undefined
  release(): void
} {
  if (signals.length === 0) return { ending: undefined, release: () => {} }
  const ending = new Ending()
  const follow = (event: Event): void => ending.end((event.target as AbortSignal).reason)
  for (const signal of signals) {
    if (signal.aborted) ending.end(signal.reason)
    // One operation makes many calls under one signal: that is no leak, and Node should not warn of one.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', follow, { once: true })
  }
  return {
    ending,
    release: () => signals.forEach((signal) => signal.removeEventListener('abort', follow)),
  }
}
