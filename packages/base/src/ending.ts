/** The name under which a request gives its ending; its `signal` costs more. */
export const ENDING: unique symbol = Symbol.for('vinyasa.ending')

/** What tells that work is no longer wanted. */
export type Abortable = AbortSignal | Ending

interface Waiting {
  readonly call: () => void
}

/** Those who wait for one thing, which happens once. */
export class Waiters {
  readonly #waiting = new Set<Waiting>()

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** One function may wait several times. The returned function lets go. */
  add(call: () => void): () => void {
    const waiting = { call }
    this.#waiting.add(waiting)
    return () => void this.#waiting.delete(waiting)
  }

  /** It has happened. Who is let go meanwhile is not called. */
  callAll(): void {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      waiting.call()
    }
  }
}

/**
 * When and why work is over, for whoever takes part in it. It does among our packages what an `AbortSignal` does, without
 * its price: making one and listening to it costs more than all else that a call needs. A signal is made for those
 * outside who ask for one.
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

  /** Made when it is asked for. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Once more does nothing. `reason`: that of a signal's, an `AbortError`, where there is none. */
  abort(reason?: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason ?? new DOMException('This operation was aborted', 'AbortError')
    this.#controller?.abort(this.#reason)
    this.#waiters.callAll()
  }

  /** Calls once, at once if it is over; the returned function lets go. */
  onAbort(call: () => void): () => void {
    if (!this.#aborted) return this.#waiters.add(call)
    call()
    return () => {}
  }
}

interface Ended {
  readonly [ENDING]?: Ending
  readonly signal?: unknown
  /** That of a field's info, as graphql-js 17 has it. */
  getAbortSignal?(): unknown
}

/** What tells that nobody waits any more for a request's answer, for a field, or for whatever else has a signal. */
export function endingOf(held: unknown): Abortable | undefined {
  if (typeof held !== 'object' || held === null) return undefined
  const ended = held as Ended
  const ending = ended[ENDING]
  if (ending) return ending
  const signal = ended.signal ?? ended.getAbortSignal?.()
  return isSignal(signal) ? signal : undefined
}

/** Whether nobody waits any more for what a request's context is made for. */
export function hasLeft(context: unknown): boolean {
  const { request } = Object(context) as { readonly request?: unknown }
  return endingOf(request)?.aborted === true
}

/** The signal of an ending, for those outside. */
export function signalOf(abortable: Abortable): AbortSignal {
  return 'addEventListener' in abortable ? abortable : abortable.signal
}

/** Servers may bring a signal class of their own. */
export function isSignal(value: unknown): value is AbortSignal {
  return typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
}
