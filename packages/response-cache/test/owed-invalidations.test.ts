import { expect, it } from 'vitest'
import { createOwedInvalidations } from '../src/index.ts'

it('what is on its way is owed until it is delivered, and waits again when it is not', () => {
  const owed = createOwedInvalidations()
  expect([owed.isOwed, owed.take()]).toEqual([false, undefined])
  owed.add(['User', 'Post'], 'a')
  owed.add(['User'], 'b')
  const first = owed.take()
  expect(first?.tags).toEqual(['User', 'Post'])
  expect([owed.isOwed, owed.take()]).toEqual([true, undefined])
  first?.end(false)
  owed.add(['Product'], 'a')
  const second = owed.take()
  expect(second?.tags).toEqual(['User', 'Post', 'Product'])
  second?.end(true)
  expect([owed.isOwed, owed.take()]).toEqual([false, undefined])
})

it('of more than 1,000 tags, or once all is owed, all is', () => {
  const owed = createOwedInvalidations()
  owed.add(
    Array.from({ length: 1_000 }, (_, n) => `User:${n}`),
    'a',
  )
  expect(owed.take()?.tags).toHaveLength(1_000)
  owed.add(
    Array.from({ length: 1_001 }, (_, n) => `User:${n}`),
    'a',
  )
  expect(owed.take()?.tags).toBe('all')
  owed.add('all', 'a')
  owed.add(['User'], 'a')
  expect(owed.take()?.tags).toBe('all')
})

it('those who subscribe hear of what is added and by whom, until they leave', () => {
  const owed = createOwedInvalidations()
  const heard: unknown[] = []
  const leave = owed.subscribe((tags, from) => heard.push([tags, from]))
  owed.add(['User'], 'a')
  owed.take()?.end(false)
  leave()
  owed.add('all', 'b')
  expect(heard).toEqual([[['User'], 'a']])
})
