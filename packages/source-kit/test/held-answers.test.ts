import { type Clock } from '@vinyasa/core'
import { AnswerSize } from '@vinyasa/core/documents'
import { expect, it } from 'vitest'
import { createHeldAnswers } from '../src/answer/held-answers.ts'

const MIB = 1024 * 1024

function world() {
  const told: boolean[] = []
  const timers = new Set<() => void>()
  const clock: Clock = {
    now: () => 0,
    wallNow: () => 0,
    setTimeout: (callback) => (timers.add(callback), callback),
    clearTimeout: (timer) => void timers.delete(timer as () => void),
  }
  const held = createHeldAnswers((areHeld) => void told.push(areHeld), clock)
  return {
    told,
    timers,
    enter(owner = 'one') {
      const size = new AnswerSize()
      size.watcher = held
      const grow = (bytes: number): Promise<void> | undefined => {
        held.holds(size, bytes)
        return held.room(size, owner)
      }
      return { size, grow }
    },
  }
}

it('tells when large answers are held, and when no longer, made or given up', () => {
  const { told, enter } = world()
  const [one, other] = [enter(), enter()]
  void one.grow(7 * MIB)
  expect(told).toEqual([])
  void other.grow(2 * MIB)
  void other.grow(3 * MIB)
  expect(told).toEqual([true])
  one.size.done()
  one.size.done()
  expect(told).toEqual([true, false])
  void other.grow(30 * MIB)
  other.size.giveUp()
  // What its objects still say counts no more.
  void other.grow(31 * MIB)
  expect(told).toEqual([true, false, true, false])
})

it('where all together hold half of what one may, the oldest goes on, and those that hold little', async () => {
  const { enter, timers } = world()
  const [oldest, other, little] = [enter(), enter(), enter()]
  expect(oldest.grow(20 * MIB)).toBeUndefined()
  expect(other.grow(12 * MIB)).toBeUndefined()
  expect(little.grow(MIB / 16)).toBeUndefined()
  const waits = other.grow(12 * MIB)
  expect(waits).toBeInstanceOf(Promise)
  expect(oldest.grow(60 * MIB)).toBeUndefined()
  oldest.size.done()
  await waits
  expect(timers.size).toBe(0)
  expect(other.grow(50 * MIB)).toBeUndefined()
})

it('another goes on to its end after a while: the oldest may wait for it', async () => {
  const { enter, timers } = world()
  const [oldest, other] = [enter(), enter()]
  void oldest.grow(40 * MIB)
  const waits = other.grow(2 * MIB)
  for (const fire of timers) fire()
  timers.clear()
  await waits
  expect(other.grow(3 * MIB)).toBeUndefined()
  expect(timers.size).toBe(0)
})

it('of those that wait the oldest goes on first', async () => {
  const { enter, timers } = world()
  const [oldest, second, third] = [enter(), enter(), enter()]
  void oldest.grow(40 * MIB)
  void second.grow(MIB)
  const order: string[] = []
  const all = [
    third.grow(MIB)?.then(() => order.push('third')),
    second.grow(MIB)?.then(() => order.push('second')),
  ]
  for (let fired = 0; fired < 2; fired++) {
    const [fire] = timers
    timers.clear()
    fire?.()
  }
  await Promise.all(all)
  expect(order).toEqual(['second', 'third'])
})

it('an answer of the owner that holds least goes on first', async () => {
  const { enter, timers } = world()
  void enter('many').grow(20 * MIB)
  const second = enter('many').grow(20 * MIB)
  const first = enter('few').grow(MIB)
  const order: string[] = []
  const all = [second?.then(() => order.push('many')), first?.then(() => order.push('few'))]
  for (let fired = 0; fired < 2; fired++) {
    const [fire] = timers
    timers.clear()
    fire?.()
  }
  await Promise.all(all)
  expect(order).toEqual(['few', 'many'])
})

it('tells of large parts that a plan writes, until ordinary execution takes over', () => {
  const { told, enter } = world()
  const { size } = enter()
  size.hold(0, 8 * MIB)
  expect(told).toEqual([])
  size.hold(0, 9 * MIB)
  expect(told).toEqual([true])
  size.goOn({})
  size.hold(0, 10 * MIB)
  expect(told).toEqual([true, false])
})

it('tells of parts that are refused, too', () => {
  const { told, enter } = world()
  const { size } = enter()
  expect(() => size.hold(2_000_000, 9 * MIB)).toThrow('more than 1000000 objects')
  expect(told).toEqual([true, false])
})
