/** Random numbers that a seed repeats (mulberry32). */
export interface Random {
  /** From 0 to 1, 1 excluded. */
  next(): number
  between(low: number, high: number): number
  below(count: number): number
  pick<T>(list: readonly T[]): T
  chance(probability: number): boolean
}

/** One sequence for each name, so that what one client draws does not shift what another gets. */
export function createRandom(seed: number, name: string): Random {
  let state = seed >>> 0
  for (const character of name) state = Math.imul(state ^ character.charCodeAt(0), 0x9e3779b1) >>> 0

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    below: (count) => Math.floor(next() * count),
    pick: (list) => list[Math.floor(next() * list.length)] as (typeof list)[number],
    chance: (probability) => next() < probability,
  }
}
