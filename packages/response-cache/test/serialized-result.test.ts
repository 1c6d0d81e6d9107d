import { expect, it, vi } from 'vitest'
import { LazyResult } from '../src/answer/serialized-result.ts'

const BODY = '{"data":{"a":1}}'

it('goes out as it is stored while nobody reads its data', () => {
  const onUntouched = vi.fn()
  const result = new LazyResult(Buffer.from(BODY), undefined, onUntouched)
  expect(String(result.stringify(result))).toBe(BODY)
  expect(onUntouched).toHaveBeenCalledOnce()
})

it.each<[string, (result: LazyResult) => void, string]>([
  ['changed', ({ data }) => void ((data as { a: number }).a = 2), '{"data":{"a":2}}'],
  ['replaced, without a look at it', (result) => void (result.data = { a: 3 }), '{"data":{"a":3}}'],
  ['read alone', ({ data }) => void data, BODY],
])('goes out as it is now when its data was %s', (_, touch, expected) => {
  const onUntouched = vi.fn()
  const result = new LazyResult(Buffer.from(BODY), undefined, onUntouched)
  touch(result)
  expect(String(result.stringify(result))).toBe(expected)
  expect(onUntouched).not.toHaveBeenCalled()
})

it('is as it is stored in a copy with extensions, which are written too', () => {
  const result = new LazyResult(Buffer.from(BODY), undefined, undefined)
  const copy = { ...result, extensions: { cost: 1 } }
  expect(JSON.parse(String(result.stringify(copy)))).toEqual({ data: { a: 1 }, extensions: { cost: 1 } })
})
