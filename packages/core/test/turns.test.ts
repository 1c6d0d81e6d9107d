import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns, drained } from '../src/index.ts'

const work = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

it('owners take turns, one per tick', async () => {
  const turns = createTurns()
  const order: string[] = []
  const ask = (owner: string): Promise<void> => turns.next(owner).then(() => void order.push(owner))
  const all = ['a', 'a', 'a', 'a', 'b', 'c'].map(ask)
  await setImmediate()
  expect(order.length).toBeLessThanOrEqual(1)
  await Promise.all(all)
  expect(order).toEqual(['a', 'b', 'c', 'a', 'a', 'a'])
})

it('an owner pauses after long work unless another owner waits', async () => {
  const turns = createTurns()
  const from = performance.now()
  await turns.next('a')
  work(30)
  await turns.next('b')
  const afterOther = performance.now() - from
  await turns.next('a')
  expect(performance.now() - from).toBeGreaterThanOrEqual(afterOther)
  await turns.next('a').then(() => work(30))
  const again = performance.now()
  await turns.next('a')
  expect(performance.now() - again).toBeGreaterThanOrEqual(20)
})

it('drained resolves after the microtasks that microtasks queue', async () => {
  const order: number[] = []
  const all = drained().then(() => void order.push(3))
  void Promise.resolve().then(() => {
    order.push(1)
    return Promise.resolve().then(() => void order.push(2))
  })
  await all
  expect(order).toEqual([1, 2, 3])
})
