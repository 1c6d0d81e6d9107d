/** Everything of a case comes from one number, so that a failure can be looked at again. */
export interface Random {
  /** From 0 to `below - 1`. */
  int(below: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: readonly T[]): T[]
  times<T>(atLeast: number, atMost: number, make: (index: number) => T): T[]
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const random: Random = {
    int: (below) => Math.floor(next() * below),
    chance: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      return items[random.int(items.length)] as T
    },
    shuffle<T>(items: readonly T[]): T[] {
      const left = [...items]
      return items.map(() => left.splice(random.int(left.length), 1)[0] as T)
    },
    times: (atLeast, atMost, make) =>
      Array.from({ length: atLeast + random.int(atMost - atLeast + 1) }, (_, index) => make(index)),
  }
  return random
}
