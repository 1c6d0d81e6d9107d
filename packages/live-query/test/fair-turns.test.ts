import { systemClock, type Clock } from '@vinyasa/core'
import { createFakeClock } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createFairTurns, createFairTurnsOf } from '../src/fair-turns.ts'

/** Turns of the event loop that the test takes. */
function manualTurns(): { nextTurn: (run: () => void) => void; take: () => boolean } {
  let asked: (() => void)[] = []
  return {
    nextTurn: (run) => void asked.push(run),
    take() {
      const runs = asked
      asked = []
      for (const run of runs) run()
      return runs.length > 0
    },
  }
}

const clockOf = (now: () => number): Clock => ({ ...systemClock, now })
const still = clockOf(() => 0)

it('runs every job once, those of a line in their order, no more than so many a turn', () => {
  const jobs = fc.array(fc.record({ line: fc.nat({ max: 5 }), turnsBefore: fc.nat({ max: 1 }) }), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(jobs, fc.integer({ min: 1, max: 5 }), (given, perTurn) => {
      const turns = manualTurns()
      const fair = createFairTurnsOf({ perTurn, nextTurn: turns.nextTurn, clock: still })
      // Two lines for each of three clients.
      const lines = Array.from({ length: 6 }, (_, index) => fair.open(index % 3))
      const seen: number[][] = lines.map(() => [])
      let begun = 0
      for (const [index, { line, turnsBefore }] of given.entries()) {
        if (turnsBefore > 0) {
          begun = 0
          turns.take()
        }
        lines[line]!.run(() => {
          begun++
          expect(begun).toBeLessThanOrEqual(perTurn)
          seen[line]!.push(index)
        })
      }
      for (let more = true; more;) {
        begun = 0
        more = turns.take()
      }
      const expected = lines.map((_, line) =>
        given.flatMap((job, index) => (job.line === line ? [index] : [])),
      )
      expect(seen).toEqual(expected)
    }),
  )
})

it('a client with a thousand lines of many jobs does not delay the job of another by more than two turns', () => {
  const turns = manualTurns()
  const fair = createFairTurnsOf({ nextTurn: turns.nextTurn, clock: still })
  const lines = Array.from({ length: 1_000 }, () => fair.open('flood'))
  for (const line of lines) for (let job = 0; job < 5; job++) line.run(() => {})
  let ran = 0
  const other = fair.open('other')
  for (let job = 0; job < 3; job++) other.run(() => ran++)
  // In the first turn begins a new count; of the places of the second half are the other client's.
  turns.take()
  turns.take()
  expect(ran).toBe(3)
  expect(lines.reduce((sum, { waiting }) => sum + waiting, 0)).toBeGreaterThan(4_900)
})

it('the lines of one client take turns with each other', () => {
  const turns = manualTurns()
  const fair = createFairTurnsOf({ perTurn: 1, nextTurn: turns.nextTurn, clock: still })
  const seen: string[] = []
  const [first, second] = [fair.open('a'), fair.open('a')]
  for (let job = 0; job < 3; job++) first.run(() => seen.push('first'))
  second.run(() => seen.push('second'))
  while (turns.take());
  expect(seen).toEqual(['first', 'first', 'second', 'first'])
})

it('jobs that take long leave the rest of a turn to others, and what waits in a closed line is not run', () => {
  const turns = manualTurns()
  let now = 0
  const fair = createFairTurnsOf({ perTurn: 8, nextTurn: turns.nextTurn, clock: clockOf(() => now) })
  let ran = 0
  const line = fair.open('a')
  for (let job = 0; job < 20; job++) {
    line.run(() => {
      ran++
      now += 3
    })
  }
  const perTurn: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    const before = ran
    turns.take()
    perTurn.push(ran - before)
  }
  expect(perTurn.slice(1)).toEqual([2, 2])
  const before = ran
  line.close()
  while (turns.take());
  expect([line.waiting, ran]).toEqual([0, before])
})

it('where the loop comes round late, one job of each client begins a turn', () => {
  const turns = manualTurns()
  let now = 0
  const fair = createFairTurnsOf({ nextTurn: turns.nextTurn, clock: clockOf(() => now) })
  let ran = 0
  const lines = Array.from({ length: 20 }, () => fair.open('a'))
  for (const line of lines) for (let job = 0; job < 3; job++) line.run(() => ran++)
  const perTurn = [0, 0, 10, 10, 0, 0].map((lateMs) => {
    now += lateMs
    const before = ran
    turns.take()
    return ran - before
  })
  expect(perTurn).toEqual([1, 8, 1, 1, 8, 8])
  const other = fair.open('b')
  let ofOther = 0
  for (let job = 0; job < 3; job++) other.run(() => ofOther++)
  now += 10
  const before = ran
  turns.take()
  expect([ran - before, ofOther]).toEqual([1, 1])
})

it('while connections come next to nothing begins, and something does', () => {
  const turns = manualTurns()
  let now = 0
  const fair = createFairTurnsOf({ perTurn: 2, nextTurn: turns.nextTurn, clock: clockOf(() => now) })
  let ran = 0
  const line = fair.open('a')
  for (let job = 0; job < 100; job++) line.run(() => ran++)
  turns.take()
  const before = ran
  // A millisecond each.
  for (let turn = 0; turn < 50; turn++) {
    now++
    fair.makeWay()
    line.run(() => ran++)
    turns.take()
  }
  expect(ran - before).toBe(4)
  while (turns.take());
  expect(ran).toBe(150)
})

it('a connection that comes alone waits for nothing', () => {
  const turns = manualTurns()
  let now = 0
  const fair = createFairTurnsOf({ nextTurn: turns.nextTurn, clock: clockOf(() => now) })
  let ran = 0
  for (let connection = 0; connection < 3; connection++) {
    fair.makeWay()
    fair.open('a').run(() => ran++)
    expect(ran).toBe(connection + 1)
    now += 100
    turns.take()
  }
})

it('of one client so many are under way at once, save those that wait for long; another has its own', async () => {
  const turns = manualTurns()
  const clock = createFakeClock()
  const fair = createFairTurnsOf({ nextTurn: turns.nextTurn, clock })
  const ends: (() => void)[] = []
  const lines = [fair.openWork('a'), fair.openWork('a')]
  for (let job = 0; job < 200; job++)
    void lines[job % 2]!.run(() => new Promise<void>((resolve) => void ends.push(resolve)))
  while (turns.take());
  expect(ends).toHaveLength(32)
  for (const end of ends.slice(0, 10)) end()
  await setImmediate()
  while (turns.take());
  expect(ends).toHaveLength(42)
  let ran = 0
  void fair.openWork('b').run(async () => ran++)
  // Neither are the messages of the client held up.
  fair.open('a').run(() => ran++)
  turns.take()
  expect(ran).toBe(2)
  // As many as are late by then.
  await clock.advance(250)
  while (turns.take());
  expect(ends).toHaveLength(74)
})

it('work in a turn settles as it did, and its client goes on after a failure', async () => {
  const turns = createFairTurns().openWork('a')
  const failed = Array.from({ length: 100 }, () => turns.run(() => Promise.reject(new Error('no'))))
  expect((await Promise.allSettled(failed)).map(({ status }) => status)).toEqual(Array(100).fill('rejected'))
  await expect(turns.run(() => Promise.resolve(1))).resolves.toBe(1)
})
