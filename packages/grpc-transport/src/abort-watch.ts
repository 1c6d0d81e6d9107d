/**
 * Tells the calls of an operation that its client left. They share one listener on its signal:
 * Node warns of a leak from the eleventh on, and each costs more than the rest of a call's bookkeeping.
 */
export class AbortWatch {
  readonly #listeners = new WeakMap<AbortSignal, Set<() => void>>()

  add(signal: AbortSignal, listener: () => void): void {
    let listeners = this.#listeners.get(signal)
    if (!listeners) {
      const added = new Set<() => void>()
      listeners = added
      this.#listeners.set(signal, added)
      signal.addEventListener(
        'abort',
        () => {
          added.forEach((listening) => listening())
        },
        { once: true },
      )
    }
    listeners.add(listener)
  }

  delete(signal: AbortSignal, listener: () => void): void {
    this.#listeners.get(signal)?.delete(listener)
  }
}
