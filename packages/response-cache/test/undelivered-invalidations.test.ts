import { expect, it } from 'vitest'
import { createUndeliveredInvalidations } from '../src/index.ts'

it('what is on its way is undelivered until it is delivered, and waits again when it is not', () => {
  const undelivered = createUndeliveredInvalidations()
  expect([undelivered.hasAny, undelivered.take()]).toEqual([false, undefined])
  undelivered.add(['User', 'Post'], 'a')
  undelivered.add(['User'], 'b')
  const first = undelivered.take()
  expect(first?.tags).toEqual(['User', 'Post'])
  expect([undelivered.hasAny, undelivered.take()]).toEqual([true, undefined])
  first?.end(false)
  undelivered.add(['Product'], 'a')
  const second = undelivered.take()
  expect(second?.tags).toEqual(['User', 'Post', 'Product'])
  second?.end(true)
  expect([undelivered.hasAny, undelivered.take()]).toEqual([false, undefined])
})

it('of more than 1,000 tags, or once all is undelivered, all is', () => {
  const undelivered = createUndeliveredInvalidations()
  undelivered.add(
    Array.from({ length: 1_000 }, (_, n) => `User:${n}`),
    'a',
  )
  expect(undelivered.take()?.tags).toHaveLength(1_000)
  undelivered.add(
    Array.from({ length: 1_001 }, (_, n) => `User:${n}`),
    'a',
  )
  expect(undelivered.take()?.tags).toBe('all')
  undelivered.add('all', 'a')
  undelivered.add(['User'], 'a')
  expect(undelivered.take()?.tags).toBe('all')
})

it('those who subscribe hear of what is added and by whom, until they leave', () => {
  const undelivered = createUndeliveredInvalidations()
  const heard: unknown[] = []
  const leave = undelivered.subscribe((tags, from) => heard.push([tags, from]))
  undelivered.add(['User'], 'a')
  undelivered.take()?.end(false)
  leave()
  undelivered.add('all', 'b')
  expect(heard).toEqual([[['User'], 'a']])
})
