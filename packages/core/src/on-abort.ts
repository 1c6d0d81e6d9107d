import { type Abortable, Waiters } from './ending.ts'

/**
 * Key under which the watch is stored on the signal. Values in an old `WeakMap` would survive minor garbage
 * collections.
 */
const WATCH = Symbol('vinyasa.base.abort-watch')
type Watched = AbortSignal & { [WATCH]?: AbortWatch }

/**
 * Calls back once when a signal or `Ending` aborts, immediately if it already has. Returns a function that
 * unsubscribes. All callbacks of a signal share one listener: Node warns of a leak from the eleventh listener on, and
 * listeners are expensive.
 */
export function onAbort(signal: Abortable, call: () => void): () => void {
  // `instanceof` would fail if several versions of this package are installed.
  if (!('addEventListener' in signal)) return signal.onAbort(call)
  if (!signal.aborted) return watchOf(signal).add(call)
  call()
  return () => {}
}

function watchOf(signal: Watched): AbortWatch {
  const watch = signal[WATCH] ?? new AbortWatch(signal)
  // A signal that is not extensible gets a separate listener for each callback.
  if (Object.isExtensible(signal)) signal[WATCH] = watch
  return watch
}

/** Callbacks for the abort of one signal. */
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
      // The listener is removed with the last callback. Node keeps a signal that combines other signals in
      // memory as long as it has a listener.
      if (this.#waiters.isEmpty) this.#signal.removeEventListener('abort', this.#onAbort)
    }
  }

  /**
   * The listener is a function, not an object. Node 24 binds the method of a listener object, and the bound
   * function survives minor garbage collections.
   */
  readonly #onAbort = (): void => this.#waiters.callAll()
}
