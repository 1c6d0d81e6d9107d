type Listeners = Set<() => void>

/** On the signal itself: what a WeakMap that has grown old holds outlives small collections. */
const LISTENERS = Symbol('vinyasa.grpc-transport.listeners')
type Watched = AbortSignal & { [LISTENERS]?: Listeners }

/**
 * Tells the calls of an operation that its client left. They share one listener on its signal:
 * Node warns of a leak from the eleventh on, and each costs more than the rest of a call's bookkeeping.
 */
export class AbortWatch {
  /** Listeners of signals that take no more properties. */
  readonly #ofSealed = new WeakMap<AbortSignal, Listeners>()

  add(signal: AbortSignal, listener: () => void): void {
    const listeners = this.#of(signal)
    if (listeners) listeners.add(listener)
    else this.#watch(signal, new Set([listener]))
  }

  delete(signal: AbortSignal, listener: () => void): void {
    this.#of(signal)?.delete(listener)
  }

  #of(signal: Watched): Listeners | undefined {
    return signal[LISTENERS] ?? this.#ofSealed.get(signal)
  }

  #watch(signal: Watched, listeners: Listeners): void {
    if (Object.isExtensible(signal)) signal[LISTENERS] = listeners
    else this.#ofSealed.set(signal, listeners)
    signal.addEventListener(
      'abort',
      () => {
        listeners.forEach((listening) => listening())
      },
      { once: true },
    )
  }
}
