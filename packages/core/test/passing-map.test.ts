import { survivingShare } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { PassingMap } from '../src/index.ts'

it('has the same entries as a Map after any operations', () => {
  const key = fc.integer({ min: 0, max: 300 })
  const step = fc.oneof(
    { weight: 50, arbitrary: fc.record({ set: key, value: fc.nat() }) },
    { weight: 30, arbitrary: fc.record({ delete: key }) },
    { weight: 1, arbitrary: fc.constant({ clear: true }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1_000 }), (steps) => {
      const map = new PassingMap<number, number>()
      const model = new Map<number, number>()
      for (const one of steps) {
        if ('set' in one) {
          map.set(one.set, one.value)
          model.set(one.set, one.value)
        } else if ('delete' in one) {
          map.delete(one.delete)
          model.delete(one.delete)
        } else {
          map.clear()
          model.clear()
        }
        expect(map.size).toBe(model.size)
      }
      expect([...map.values()]).toEqual([...model.values()])
      for (let at = 0; at <= 300; at++)
        expect([map.get(at), map.has(at)]).toEqual([model.get(at), model.has(at)])
    }),
  )
})

it('removed entries do not survive minor garbage collections', () => {
  const map = new PassingMap<string, object>()
  let number = 0
  /** Adds one entry and removes another, so that the map has 16 entries. */
  const run = (much: object): void => {
    map.set(`key ${number}`, much)
    map.delete(`key ${number - 16}`)
    number++
  }
  expect(survivingShare(run)).toBeLessThan(0.3)
})
