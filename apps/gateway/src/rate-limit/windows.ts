interface Window {
  count: number
  endsAt: number
  level: number
}

/** Number of steps in which windows are told apart by how much of what a client may ask is left. */
const LEVELS = 8

/**
 * Counts of one rule in windows, of so many clients at most. Where there is no room, those leave that have most left, the
 * oldest first: who makes up new names makes others' such forgotten, and never who has used up what it may.
 */
export class Windows {
  readonly #max: number
  readonly #windowMs: number
  readonly #maxKeys: number
  /** By what is used: those with most left first. A window moves up as it is counted. */
  readonly #levels: readonly Map<string, Window>[] = Array.from({ length: LEVELS + 1 }, () => new Map())

  constructor({ max, windowMs, maxKeys }: { max: number; windowMs: number; maxKeys: number }) {
    this.#max = Math.max(1, max)
    this.#windowMs = windowMs
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#levels.reduce((sum, level) => sum + level.size, 0)
  }

  add(key: string, by: number, now: number): { readonly count: number; readonly endsAt: number } {
    const known = this.#find(key)
    const isNew = !known || known.endsAt <= now
    const window = isNew ? { count: by, endsAt: now + this.#windowMs, level: -1 } : known
    if (!isNew) window.count += by
    const level = Math.min(LEVELS, Math.floor((LEVELS * window.count) / this.#max))
    if (level === window.level) return window
    if (known) this.#levels[known.level]?.delete(key)
    else if (this.size >= this.#maxKeys) this.#dropOne(now)
    window.level = level
    this.#levels[level]?.set(key, window)
    return window
  }

  #find(key: string): Window | undefined {
    for (const level of this.#levels) {
      const window = level.get(key)
      if (window) return window
    }
    return undefined
  }

  #dropOne(now: number): void {
    let least: Map<string, Window> | undefined
    for (const level of this.#levels) {
      const [first] = level
      if (!first) continue
      if (first[1].endsAt <= now) return void level.delete(first[0])
      least ??= level
    }
    const [first] = least ?? []
    if (first) least?.delete(first[0])
  }
}
