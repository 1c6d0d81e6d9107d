import { describe, expect, it } from 'vitest'
import { after, attempt, isAsyncIterable, isPromise } from '../src/index.ts'

// oxlint-disable-next-line unicorn/no-thenable -- the test needs a thenable
const thenable = { then: (resolve: (value: number) => void) => resolve(1) } as unknown as Promise<number>

describe('values or promises', () => {
  it('detects promises, thenables and async iterables', () => {
    for (const value of [Promise.resolve(0), thenable]) expect(isPromise(value)).toBe(true)
    for (const value of [undefined, null, 0, 'then', {}, () => {}]) expect(isPromise(value)).toBe(false)
    expect(isAsyncIterable((async function* () {})())).toBe(true)
    for (const value of [undefined, null, 0, '', [], {}]) expect(isAsyncIterable(value)).toBe(false)
  })

  it('proceeds synchronously for values', async () => {
    expect(after(1, (value) => value + 1)).toBe(2)
    await expect(after(Promise.resolve(1), (value) => value + 1)).resolves.toBe(2)
  })

  it('handles thrown errors and rejections equally', async () => {
    const fail = (error: unknown) => String(error)
    expect(attempt(() => 'well', fail)).toBe('well')
    expect(
      attempt(() => {
        throw 'thrown'
      }, fail),
    ).toBe('thrown')
    await expect(attempt(async () => 'well', fail)).resolves.toBe('well')
    await expect(attempt(() => Promise.reject('rejected') as Promise<string>, fail)).resolves.toBe('rejected')
  })
})
