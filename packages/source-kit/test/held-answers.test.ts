import type { Clock } from '@vinyasa/base'
import { AnswerSize } from '@vinyasa/yoga-internals'
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
    enter() {
      const size = new AnswerSize()
      size.watcher = held
      const grow = (bytes: number): Promise<void> | undefined => {
        held.holds(size, bytes)
        return held.room(size)
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
  expect(little.grow(MIB)).toBeUndefined()
  const waits = other.grow(12 * MIB)
  expect(waits).toBeInstanceOf(Promise)
  expect(oldest.grow(60 * MIB)).toBeUndefined()
  oldest.size.done()
  await waits
  expect(timers.size).toBe(0)
  expect(other.grow(50 * MIB)).toBeUndefined()
})

it('the others go on slowly: the oldest may wait for one of them', async () => {
  const { enter, timers } = world()
  const [oldest, other] = [enter(), enter()]
  void oldest.grow(40 * MIB)
  for (let turn = 2; turn < 5; turn++) {
    const waits = other.grow(turn * MIB)
    for (const fire of timers) fire()
    timers.clear()
    await waits
  }
  expect(timers.size).toBe(0)
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
