/**
 * Runs that begin in one turn of the event loop, which takes 2 to 3 ms. What they execute has turns of its own, in which each client has
 * its share: whose one run is the last of ten thousand waits for forty turns before that.
 */
const AT_ONCE = 256

/** Has the runs that an event asks for begin a part at a time: ten thousand at once would keep everybody else waiting. */
export class Beginnings {
  readonly #waiting: (() => void)[] = []
  #begun = 0

  /** Starts at once, or in its turn. */
  add(start: () => void): void {
    if (this.#begun >= AT_ONCE) return void this.#waiting.push(start)
    if (this.#begun++ === 0) setImmediate(() => this.#nextTurn())
    start()
  }

  #nextTurn(): void {
    this.#begun = 0
    for (const start of this.#waiting.splice(0, AT_ONCE)) this.add(start)
  }
}
