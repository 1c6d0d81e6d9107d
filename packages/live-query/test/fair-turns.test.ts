import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createFairTurns } from '../src/protocol/fair-turns.ts'

/** Turns that the test takes. */
function manualTurns(): { nextTurn: (run: () => void) => void; take: () => boolean } {
  let asked: (() => void) | undefined
  return {
    nextTurn: (run) => (asked = run),
    take() {
      const run = asked
      asked = undefined
      run?.()
      return run !== undefined
    },
  }
}

it('runs every job once, those of a peer in their order, no more than so many a turn', () => {
  const jobs = fc.array(fc.record({ peer: fc.nat({ max: 4 }), turnsBefore: fc.nat({ max: 1 }) }), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(jobs, fc.integer({ min: 1, max: 5 }), (given, perTurn) => {
      const turns = manualTurns()
      const fair = createFairTurns({ perTurn, nextTurn: turns.nextTurn })
      const peers = Array.from({ length: 5 }, () => ({}))
      const seen: number[][] = peers.map(() => [])
      let begun = 0
      for (const [index, { peer, turnsBefore }] of given.entries()) {
        if (turnsBefore > 0) {
          begun = 0
          turns.take()
        }
        fair.run(peers[peer]!, () => {
          begun++
          expect(begun).toBeLessThanOrEqual(perTurn)
          seen[peer]!.push(index)
        })
      }
      for (let more = true; more;) {
        begun = 0
        more = turns.take()
      }
      const expected = peers.map((_, peer) =>
        given.flatMap((job, index) => (job.peer === peer ? [index] : [])),
      )
      expect(seen).toEqual(expected)
    }),
  )
})

it('a peer with thousands of jobs does not delay the job of another by more than a turn', () => {
  const turns = manualTurns()
  const fair = createFairTurns({ perTurn: 8, nextTurn: turns.nextTurn })
  const [flood, other] = [{}, {}]
  for (let job = 0; job < 5000; job++) fair.run(flood, () => {})
  let ran = false
  fair.run(other, () => (ran = true))
  turns.take()
  expect(ran).toBe(true)
  expect(fair.waiting(flood)).toBeGreaterThan(4900)
  fair.forget(flood)
  expect(fair.waiting(flood)).toBe(0)
})
