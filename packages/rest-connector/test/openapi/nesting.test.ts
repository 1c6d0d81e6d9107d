import { expect, it } from 'vitest'
import { Nesting } from '../../src/openapi/nesting.ts'

it('leaves nothing that was put off to the next, where one has failed', () => {
  const nesting = new Nesting()
  const done: string[] = []
  const dig = (depth: number): void => {
    if (depth === 0) throw new Error('bottom')
    nesting.enter(() => {
      if (depth === 10) nesting.enter(() => done.push('put off'))
      dig(depth - 1)
    })
  }
  expect(() => nesting.enter(() => dig(195))).toThrow('bottom')
  nesting.enter(() => done.push('next'))
  expect(done.at(-1)).toBe('next')
  const before = done.length
  nesting.enter(() => {})
  expect(done).toHaveLength(before)
})

it('does first what was put off, before the outermost ends', () => {
  const nesting = new Nesting()
  let reached = 0
  const dig = (depth: number): void => nesting.enter(() => void (depth > 0 ? dig(depth - 1) : (reached += 1)))
  dig(5_000)
  expect(reached).toBe(1)
})
