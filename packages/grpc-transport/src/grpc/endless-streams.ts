import { ownerOf } from '@vinyasa/base'

/**
 * The streams without an end that are open, by whose they are (`ownerOf`). An owner may have as many as there are places free:
 * half of all where it is alone, fewer the more others have, so that calls find a place always.
 */
export class EndlessStreams<Stream extends { readonly asker?: unknown }> {
  readonly #owners = new Map<Stream, unknown>()
  readonly #counts = new Map<unknown, number>()

  /** Counts it as open, unless it is. False: its owner has its share. */
  enter(stream: Stream, free: number): boolean {
    if (this.#owners.has(stream)) return true
    const owner = ownerOf(stream.asker)
    const count = this.#counts.get(owner) ?? 0
    if (count >= free) return false
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
