import { ownerOf } from '@vinyasa/base'

/** The part of a server's places that is left to calls, however many open streams. */
const LEFT_TO_CALLS = 1 / 8

/**
 * The streams without an end that are open, by whose they are (`ownerOf`). An owner may have as many as places for streams are
 * free: half of these where it is alone, fewer the more others have. Some are for calls alone, so that these find one always.
 */
export class EndlessStreams<Stream extends { readonly caller?: unknown }> {
  readonly #owners = new Map<Stream, unknown>()
  readonly #counts = new Map<unknown, number>()

  /** Counts it as open, unless it is. `places`: calls that the servers take at once. False: its owner has its share. */
  enter(stream: Stream, places: number): boolean {
    if (this.#owners.has(stream)) return true
    const owner = ownerOf(stream.caller)
    const count = this.#counts.get(owner) ?? 0
    if (Number.isFinite(places)) {
      const left = Math.min(places - 1, Math.ceil(places * LEFT_TO_CALLS))
      if (count >= places - left - this.#owners.size) return false
    }
    this.#owners.set(stream, owner)
    this.#counts.set(owner, count + 1)
    return true
  }

  /** Does nothing for one that is not open. */
  leave(stream: Stream): void {
    const owner = this.#owners.get(stream)
    if (!this.#owners.delete(stream)) return
    const left = (this.#counts.get(owner) ?? 1) - 1
    if (left > 0) this.#counts.set(owner, left)
    else this.#counts.delete(owner)
  }
}
