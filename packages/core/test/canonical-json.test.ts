import { assert, jsonValue, property } from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson } from '../src/index.ts'

it('returns equal strings for equal values, regardless of the order of their keys', () => {
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
])('uses the function `other` for %s, which is not JSON', (value) => {
  expect(canonicalJson([value])).toBeUndefined()
  expect(canonicalJson({ a: [value] }, () => 'it')).toBe('{"a":[it]}')
})

it('omits properties with the value undefined', () => {
  expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}')
})
