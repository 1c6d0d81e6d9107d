import { AnswerSize } from '@vinyasa/core/documents'
import { expect, it } from 'vitest'
import { SharedJoins } from '../src/joins/shared-joins.ts'
import type { PreparedJoin, Site } from '../src/plan/fast-path.ts'

/** A join that brings a text of a thousand characters for each key, and says how often it has written one. */
function thousands() {
  const seen = { loaded: [] as (string | null)[], written: 0 }
  const write = (key: string | null): string => {
    seen.written++
    return (key ?? '-').repeat(1_000)
  }
  const shared: PreparedJoin = {
    parentKey: 'id',
    start: () => ({
      async load(keys) {
        seen.loaded.push(...keys)
        return keys.map((key) => ({ length: 1_000, objects: 10, json: () => write(key) }))
      },
      recorded: () => ({ roots: new Map(), joins: new Map() }),
    }),
  }
  return { shared, seen }
}

function joinsOf(size: AnswerSize): SharedJoins<string> {
  return new SharedJoins({ size } as Partial<Site> as Site, String)
}

it('loads a key once, and writes it once', async () => {
  const { shared, seen } = thousands()
  const joins = joinsOf(new AnswerSize())
  const a = { shared, key: 'a' }
  await joins.load([a, { shared, key: 'b' }, a])
  await joins.load([a])
  expect(seen).toEqual({ loaded: ['a', 'b'], written: 0 })
  expect(joins.sizeOf(a)).toMatchObject({ length: 1_000, objects: 10 })
  expect(joins.jsonOf(a)).toBe('a'.repeat(1_000))
  expect(joins.jsonOf({ ...a })).toBe(joins.jsonOf(a))
  expect(seen.written).toBe(1)
})

it.each([
  ['bytes', { maxAnswerBytes: 3_999 }],
  ['objects', { maxAnswerObjects: 39 }],
])('refuses too many %s before any of them is written: each place counts', async (_, limits) => {
  const { shared, seen } = thousands()
  const size = new AnswerSize(limits)
  const places = ['a', 'a', 'b', 'a'].map((key) => ({ shared, key }))
  await expect(joinsOf(size).load(places)).rejects.toThrow('The response has more than')
  expect(size.refusal?.extensions['code']).toBe('RESPONSE_TOO_LARGE')
  expect(seen).toEqual({ loaded: ['a', 'b'], written: 0 })
  await joinsOf(new AnswerSize(limits)).load(places.slice(1))
})
