import * as fc from 'fast-check'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { JsonLimits } from '@vinyasa/core'

// Files may share their modules: this one wants its own, and leaves none of them behind.
vi.hoisted(() => void vi.resetModules())
afterAll(() => void vi.resetModules())

// So small that nearly everything is long.
vi.mock(import('../../core/src/time/turns.ts'), async (original) => ({
  ...(await original()),
  SLICE_BYTES: 12,
}))
const { createTurns, exceededLimit, stringifySlices, writeInSlices } = await import('@vinyasa/core')
const { parseInSlices } = await import('../src/index.ts')

const RUNS = Number(process.env['JSON_RUNS'] ?? 1_000)
const NO_LIMITS: JsonLimits = { maxDepth: Infinity, maxItems: Infinity }
const parse = (text: string, limits = NO_LIMITS): Promise<unknown> =>
  parseInSlices(Buffer.from(text), {
    ...limits,
    parse: JSON.parse,
    turns: createTurns(),
    refuse: (limit) => new Error(limit),
  })

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function itemsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  return Math.max(1, members.length) + members.reduce<number>((sum, member) => sum + itemsOf(member), 0)
}

/**
 * Once JSON.parse of Node 24.21 has seen a name that is a backslash alone, it takes the name '"' for it, or it for that.
 */
const isMisread = (text: string): boolean => /"\\\\"\s*:/.test(text)
const value = fc
  .oneof(
    fc.jsonValue({ maxDepth: 6 }),
    fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 40 }),
    fc.letrec((tie) => ({
      nested: fc.oneof(
        { maxDepth: 8 },
        fc.constantFrom('a', 1, '"\\', ',[{', '\\\\', 'x'.repeat(50)),
        fc.array(tie('nested')),
        fc.dictionary(
          // Not a backslash alone: see `isMisread`.
          fc.constantFrom('a', 'b', '__proto__', '"', '\\:', '1', ':', 'constructor'),
          tie('nested'),
        ),
      ),
    })).nested,
  )
  .filter((given) => !isMisread(JSON.stringify(given)))
const indent = fc.constantFrom(undefined, 1, '\t', '\r\n')
/** A text that was JSON before one character of it was changed, or left out. */
const broken = fc
  .tuple(
    value,
    indent,
    fc.nat(),
    fc.constantFrom('', ',', '[', ']', '{', '}', '"', ':', '\\', '1', ' ', ',,'),
  )
  .map(([given, space, at, put]) => {
    const text = JSON.stringify(given, null, space)
    const place = at % text.length
    // In UTF-8 there is no half of a character.
    return Buffer.from(text.slice(0, place) + put + text.slice(place + (at % 2))).toString()
  })
  .filter((text) => !isMisread(text))

function outcomeOf(run: () => unknown): unknown {
  try {
    return { value: run() }
  } catch {
    return 'refused'
  }
}

describe('JSON in slices', () => {
  it('is parsed as it is at once, keys of any name and their order', async () => {
    await fc.assert(
      fc.asyncProperty(value, indent, async (given, space) => {
        const text = JSON.stringify(given, null, space)
        const whole: unknown = JSON.parse(text)
        const sliced = await parse(text)
        expect(sliced).toEqual(whole)
        expect(JSON.stringify(sliced)).toBe(JSON.stringify(whole))
      }),
      { numRuns: 500 },
    )
  })

  it('that is none is refused, and what is refused is none', async () => {
    await fc.assert(
      fc.asyncProperty(broken, async (text) => {
        const expected = outcomeOf(() => JSON.parse(text) as unknown)
        const sliced = await parse(text).then(
          (parsed) => ({ value: parsed }),
          () => 'refused',
        )
        expect(sliced).toEqual(expected)
      }),
      { numRuns: RUNS },
    )
  })

  it('takes the last of several members with one name', async () => {
    const text = `{"a":[${'1,'.repeat(30)}1],"b":${'2'.repeat(20)},"a":{"c":[${'3,'.repeat(30)}3]},"a":4,"b":[[[5]]]}`
    expect(await parse(text)).toEqual(JSON.parse(text))
  })

  it('is done in as many turns as it has slices, and others get theirs in between', async () => {
    const text = JSON.stringify(Array.from({ length: 1_000 }, (_, index) => index))
    let turns = 0
    let longest = 0
    const counted = { next: async (): Promise<void> => void turns++ }
    const noted = (part: string): unknown => {
      longest = Math.max(longest, part.length)
      return JSON.parse(part)
    }
    await parseInSlices(Buffer.from(text), {
      ...NO_LIMITS,
      parse: noted,
      turns: counted,
      refuse: () => new Error(),
    })
    // Text of a slice, of the number that ends behind it and of brackets: never of the whole.
    expect(longest).toBeLessThan(12 + 8)
    expect(turns).toBeGreaterThan(text.length / 20)
    turns = 0
    const written = await writeInSlices(stringifySlices(JSON.parse(text)) ?? [], counted, '<', 'ü>')
    expect(written).toEqual(Buffer.from(`<${text}ü>`))
    expect(turns).toBeGreaterThan(1_000 / 64 - 2)
  })

  it('is stringified in short pieces, also where few lists hold all of it', () => {
    const rows = Array.from({ length: 4 }, () => Array.from({ length: 2_000 }, () => 'a text'))
    const pieces = [...(stringifySlices({ rows: [rows] }) ?? [])]
    expect(pieces.join('')).toBe(JSON.stringify({ rows: [rows] }))
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(2_000)
  })

  it('is stringified as it is at once', async () => {
    const any = fc.oneof(value, fc.anything({ withDate: true, withNullPrototype: true, maxDepth: 3 }))
    const long = fc.array(any, { minLength: 60, maxLength: 140 })
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(any, long, fc.dictionary(fc.string(), fc.oneof(any, long))),
        async (given) => {
          const expected = JSON.stringify(given) as string | undefined
          const pieces = stringifySlices(given)
          expect(pieces && (await writeInSlices(pieces, createTurns())).toString()).toBe(expected)
        },
      ),
    )
  })
})

describe('limits of JSON', () => {
  it('are those of the value, however it is written, at once and in slices', async () => {
    const limit = fc.integer({ min: 1, max: 12 })
    await fc.assert(
      fc.asyncProperty(value, indent, limit, limit, async (given, space, maxDepth, maxItems) => {
        const text = JSON.stringify(given, null, space)
        const plain: unknown = JSON.parse(text)
        for (const [limits, isExceeded] of [
          [{ maxDepth, maxItems: Infinity }, depthOf(plain) > maxDepth],
          [{ maxDepth: Infinity, maxItems }, itemsOf(plain) > maxItems],
        ] as const) {
          const bytes = Buffer.from(text)
          expect(exceededLimit(bytes, limits) !== undefined).toBe(isExceeded)
          expect(exceededLimit(new Uint8Array(bytes), limits) !== undefined).toBe(isExceeded)
          await expect(
            parse(text, limits).then(
              () => true,
              () => false,
            ),
          ).resolves.toBe(!isExceeded)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('do not count what stands in texts, of any length and with any escapes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[', ']', '{', '"', '\\', ',', 'ü', 'x'.repeat(31), '\\"'.repeat(9))),
        (parts) => {
          const bytes = Buffer.from(JSON.stringify({ text: parts.join(''), b: 1 }))
          expect(exceededLimit(bytes, { maxDepth: 1, maxItems: 2 })).toBeUndefined()
          expect(exceededLimit(bytes, { maxDepth: 1, maxItems: 1 })).toBe('maxItems')
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('let pass what is no JSON, which is for the parser to refuse', () => {
    for (const text of ['"', '"\\', ']'.repeat(10), '{"a', '\\"[', 'nonsense', `"${'\\'.repeat(99)}`])
      expect(exceededLimit(Buffer.from(text), { maxDepth: 1, maxItems: 2 })).toBeUndefined()
  })
})
