import { type Abortable, Waiters } from './ending.ts'

/** The watch stands on the signal itself: what a WeakMap that has grown old holds outlives small collections. */
const WATCH = Symbol('vinyasa.base.abort-watch')
type Watched = AbortSignal & { [WATCH]?: AbortWatch }

/**
 * Calls back once when a signal or `Ending` aborts, immediately if it already has. Returns a function that
 * unsubscribes. All callbacks of a signal share one listener: Node warns of a leak from the eleventh listener on, and
 * listeners are expensive.
 */
export function onAbort(signal: Abortable, call: () => void): () => void {
  // Not by its class: several versions of this package may stand beside each other.
  if (!('addEventListener' in signal)) return signal.onAbort(call)
  if (!signal.aborted) return watchOf(signal).add(call)
  call()
  return () => {}
}

function watchOf(signal: Watched): AbortWatch {
  const watch = signal[WATCH] ?? new AbortWatch(signal)
  // One that takes no properties has a listener for each who waits.
  if (Object.isExtensible(signal)) signal[WATCH] = watch
  return watch
}

/** Those who wait for one signal. */
class AbortWatch {
  readonly #signal: AbortSignal
  readonly #waiters = new Waiters()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(call: () => void): () => void {
    if (this.#waiters.isEmpty) this.#signal.addEventListener('abort', this.#onAbort, { once: true })
    const letGo = this.#waiters.add(call)
    return () => {
      letGo()
      // Nobody may wait any more: Node keeps a signal that others are combined into as long as it has a listener.
      if (this.#waiters.isEmpty) this.#signal.removeEventListener('abort', this.#onAbort)
    }
  }

  /** This is a function: Node 24 binds the method of a listener that is an object, and what is bound outlives small collections. */
  readonly #onAbort = (): void => this.#waiters.callAll()
}
