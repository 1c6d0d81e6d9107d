/** Things of which there is mostly one, or none, at a time: that one costs no `Set`. */
export class Few<Item extends object> {
  #one: Item | undefined
  #others: Set<Item> | undefined

  get size(): number {
    return (this.#one ? 1 : 0) + (this.#others?.size ?? 0)
  }

  add(item: Item): void {
    if (this.size === 0) this.#one = item
    else (this.#others ??= new Set()).add(item)
  }

  /** False: it was not there. */
  delete(item: Item): boolean {
    if (this.#one !== item) return this.#others?.delete(item) ?? false
    this.#one = undefined
    return true
  }

  /** Takes all, in the order in which they came. */
  take(): readonly Item[] {
    const items = [...(this.#one ? [this.#one] : []), ...(this.#others ?? [])]
    this.#one = undefined
    this.#others = undefined
    return items
  }
}
