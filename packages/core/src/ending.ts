/** Key under which a request provides its `Ending`. An `Ending` is cheaper than the `signal` of the request. */
export const ENDING: unique symbol = Symbol.for('vinyasa.ending')

/** Signal that cancels work. */
export type Abortable = AbortSignal | Ending

interface Waiting {
  readonly call: () => void
}

/** Callbacks for an event that happens once. */
class Waiters {
  readonly #waiting = new Set<Waiting>()

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Adds a callback. A function can be added several times. Returns a function that removes the callback. */
  add(call: () => void): () => void {
    const waiting = { call }
    this.#waiting.add(waiting)
    return () => void this.#waiting.delete(waiting)
  }

  /** Calls and removes all callbacks. A callback that another callback removes is not called. */
  callAll(): void {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      waiting.call()
    }
  }
}

/**
 * Cancels work, like an `AbortController` with its signal. It is much cheaper to create and to listen to, so the
 * Vinyasa packages use it between each other. `signal` creates an `AbortSignal` for other code.
 */
export class Ending {
  #aborted = false
  #reason: unknown
  #controller: AbortController | undefined
  readonly #waiters = new Waiters()

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  /** Returns an `AbortSignal`, created on first use. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Cancels the work. Later calls do nothing. `reason` is an `AbortError` by default, as in an `AbortSignal`. */
  abort(reason?: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason ?? new DOMException('This operation was aborted', 'AbortError')
    this.#controller?.abort(this.#reason)
    this.#waiters.callAll()
  }

  /** Calls back once when the work is cancelled, immediately if it already is. Returns a function that unsubscribes. */
  onAbort(call: () => void): () => void {
    if (!this.#aborted) return this.#waiters.add(call)
    call()
    return () => {}
  }
}

interface Ended {
  readonly [ENDING]?: Ending
  readonly signal?: unknown
  /** Method of a field's info in graphql-js 17. */
  getAbortSignal?(): unknown
}

/** Returns the `Ending` or signal of a request, a field's info, or any object with a `signal`. */
export function endingOf(held: unknown): Abortable | undefined {
  if (typeof held !== 'object' || held === null) return undefined
  const ended = held as Ended
  const ending = ended[ENDING]
  if (ending) return ending
  const signal = ended.signal ?? ended.getAbortSignal?.()
  return isSignal(signal) ? signal : undefined
}

/** Returns whether the request of a context was cancelled, for example because the client disconnected. */
export function hasLeft(context: unknown): boolean {
  const { request } = Object(context) as { readonly request?: unknown }
  return endingOf(request)?.aborted === true
}

/** Returns the `AbortSignal` of an `Ending`, or the signal itself. */
export function signalOf(abortable: Abortable): AbortSignal {
  return 'addEventListener' in abortable ? abortable : abortable.signal
}

/** Returns whether a value is an abort signal, also of a server's own class. */
export function isSignal(value: unknown): value is AbortSignal {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
}

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
