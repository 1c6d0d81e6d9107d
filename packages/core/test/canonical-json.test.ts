import { assert, jsonValue, property } from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson } from '../src/index.ts'

it('equal values have equal text, whatever the order of their keys', () => {
  expect(canonicalJson({ b: 1, a: { d: [null, true], c: 'x' } })).toBe(
    '{"a":{"c":"x","d":[null,true]},"b":1}',
  )
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).toReversed()
    return Object.fromEntries(entries.map(([key, member]) => [key, reversed(member)]))
  }
  assert(
    property(jsonValue(), (value) => {
      expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
      expect(JSON.parse(canonicalJson(value) ?? '')).toEqual(value)
    }),
  )
})

it.each([
  [new Date(0)],
  [Number.NaN],
  [1n],
  [() => 1],
  [new Map()],
  [{ size: 3, toJSON: () => 'x' }],
  [undefined],
])('%s is no JSON, and has the text that is said of it', (value) => {
  expect(canonicalJson([value])).toBeUndefined()
  expect(canonicalJson({ a: [value] }, () => 'it')).toBe('{"a":[it]}')
})

it('a member that is undefined is none', () => {
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}')
})
