import * as fc from 'fast-check'
import { survivingShare } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createPlaces, type Place } from '../src/connections/places.ts'

it('places hold what a set would', () => {
  const step = fc.oneof(
    fc.record({ add: fc.nat(9) }),
    fc.record({ remove: fc.nat(30) }),
    fc.record({ removeOver: fc.nat(9) }),
  )
  const model = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const places = createPlaces<{ readonly worth: number }>()
    const expected = new Set<{ readonly worth: number }>()
    const made: Place<{ readonly worth: number }>[] = []
    for (const one of steps) {
      if ('add' in one) {
        const item = { worth: one.add }
        made.push(places.add(item))
        expected.add(item)
      } else if ('remove' in one) {
        // Some were removed before.
        const place = made[one.remove % Math.max(1, made.length)]
        if (!place) continue
        places.remove(place)
        expected.delete(place.item)
      } else {
        places.removeIf(({ worth }) => worth > one.removeOver)
        for (const item of expected) if (item.worth > one.removeOver) expected.delete(item)
      }
      expect(new Set(places)).toEqual(expected)
      expect(places.size).toBe(expected.size)
    }
  })
  fc.assert(model, { numRuns: 500 })
})

it('what has left does not live as long as the places', () => {
  const places = createPlaces<object>()
  const open: Place<object>[] = []
  /** Sixteen of 300 are open at a time. */
  const pass = (much: object): void => {
    open.push(places.add({ much }))
    if (open.length > 16) places.remove(open.shift() as Place<object>)
  }
  expect(survivingShare(pass)).toBeLessThan(0.3)
})
