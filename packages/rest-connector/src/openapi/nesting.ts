/** Types inside each other that are worked on in one call stack. */
const DEEPEST = 200

/** Works through what lies inside each other, depth first, and puts off what lies too deep for one call stack. */
export class Nesting {
  readonly #later: (() => void)[] = []
  #depth = 0

  /** Does the work: at once, or, deep inside, before the outermost `enter` ends. */
  enter(work: () => void): void {
    if (this.#depth >= DEEPEST) {
      this.#later.push(work)
      return
    }
    this.#depth++
    try {
      work()
      while (this.#depth === 1 && this.#later.length > 0) this.#later.pop()?.()
    } finally {
      this.#depth--
      // What failed takes with it what it had put off: the next one's is its own.
      if (this.#depth === 0) this.#later.length = 0
    }
  }
}
