import * as fc from 'fast-check'
import { survivingShare } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { StreamTable } from '../../grpc-transport/src/http2/stream-table.ts'
import { Http2Stream } from '../../grpc-transport/src/http2/stream.ts'

const nobody = undefined as never

it('holds what a map would, whatever comes and goes', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ begin: fc.integer({ min: 1, max: 150 }) }),
      fc.record({ end: fc.nat(), count: fc.nat(150) }),
    ),
  )
  fc.assert(
    fc.property(steps, (all) => {
      const table = new StreamTable()
      const model = new Map<number, Http2Stream>()
      const ended = new Set<Http2Stream>()
      let id = 1
      for (const step of all) {
        if ('begin' in step) {
          for (let left = step.begin; left > 0; left--, id += 2) {
            const stream = new Http2Stream(id, nobody, 0, nobody)
            table.add(stream)
            model.set(id, stream)
          }
        } else {
          const streams = [...model.values()]
          for (let at = 0; at < Math.min(step.count, streams.length); at++) {
            const stream = streams[(step.end + at * 7) % streams.length] as Http2Stream
            // Perhaps for the second time.
            table.delete(stream)
            model.delete(stream.id)
            ended.add(stream)
          }
        }
        expect(table.size).toBe(model.size)
        expect(table.all()).toEqual([...model.values()])
        expect([...ended].filter(({ next }) => next)).toEqual([])
      }
      for (let known = 1; known < id; known += 2) expect(table.get(known)).toBe(model.get(known))
    }),
  )
})

it('what has gone through it does not survive as long as the table', () => {
  const table = new StreamTable()
  const running: Http2Stream[] = []
  let id = 1
  /** Sixteen of 300 run at a time. */
  const run = (owner: object): void => {
    const stream = new Http2Stream(id, owner as never, 0, nobody)
    table.add(stream)
    running.push(stream)
    if (running.length > 16) table.delete(running.shift() as Http2Stream)
    id += 2
  }
  expect(survivingShare(run)).toBeLessThan(0.3)
})
