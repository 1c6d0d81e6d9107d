/** The watch stands on the signal itself: what a WeakMap that has grown old holds outlives small collections. */
const WATCH = Symbol('vinyasa.base.abort-watch')
type Watched = AbortSignal & { [WATCH]?: AbortWatch }

/**
 * Calls once when a signal aborts, at once if it has; the returned function lets go. All who wait for a signal share one
 * listener on it: Node warns of a leak from the eleventh on, and each costs more than the rest of a call's bookkeeping.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  if (signal.aborted) {
    call()
    return () => {}
  }
  const watch = watchOf(signal)
  // One function may wait several times.
  const waiting = { call }
  watch.add(waiting)
  return () => watch.delete(waiting)
}

function watchOf(signal: Watched): AbortWatch {
  const watch = signal[WATCH] ?? new AbortWatch(signal)
  // One that takes no properties has a listener for each who waits.
  if (Object.isExtensible(signal)) signal[WATCH] = watch
  return watch
}

interface Waiting {
  readonly call: () => void
}

/** Those who wait for one signal. */
class AbortWatch {
  readonly #signal: AbortSignal
  readonly #waiting = new Set<Waiting>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(waiting: Waiting): void {
    if (this.#waiting.size === 0) this.#signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#waiting.add(waiting)
  }

  /** Nobody may wait any more: Node keeps a signal that others are combined into as long as it has a listener. */
  delete(waiting: Waiting): void {
    if (!this.#waiting.delete(waiting) || this.#waiting.size > 0) return
    this.#signal.removeEventListener('abort', this.#onAbort)
  }

  /**
   * The signal has aborted. Who is let go meanwhile is not called. A function, as Node 24 binds the method of a listener that is
   * an object, and what is bound outlives small collections.
   */
  readonly #onAbort = (): void => {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      waiting.call()
    }
  }
}
