/** How often what happened. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(what: string, count = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count)
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0
  }

  /** Those that begin so, without the beginning. */
  under(prefix: string): readonly (readonly [string, number])[] {
    return [...this.#counts]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, count]) => [name.slice(prefix.length), count] as const)
      .toSorted(([, a], [, b]) => b - a)
  }
}
