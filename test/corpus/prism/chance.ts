import * as fc from 'fast-check'

/** Choices that a seed repeats. */
export interface Chance {
  /** From 0 up to 1. */
  next(): number
  integer(min: number, max: number): number
  pick<T>(items: readonly T[]): T
  /** Text that a regular expression matches; the example where one cannot be made. */
  matching(pattern: string, example?: unknown): string
}

/** Mulberry32. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    integer,
    pick: (items) => items[integer(0, items.length - 1)] as never,
    matching(pattern, example) {
      const expression = new RegExp(pattern)
      try {
        const settings = { seed: integer(0, 2 ** 31 - 1), numRuns: 1 }
        return fc.sample(fc.stringMatching(expression), settings)[0] as string
      } catch {
        // fast-check makes no text for `\b` and lookarounds.
        return SIMPLE.concat(String(example)).findLast((text) => expression.test(text)) ?? String(example)
      }
    },
  }
}

const SIMPLE = ['a', 'Ab', '1', 'abc', 'ab-c1', 'a.b', 'example.com', 'https://example.com/a', '10.0.0.1']
