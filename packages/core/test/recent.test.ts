import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRecent, createRoom, notePlace, placeOf, type Place } from '../src/index.ts'

describe('createRecent', () => {
  it('keeps a used entry while a thousand entries are added once', () => {
    const recent = createRecent<number>(createRoom(16))
    recent.set('hot', 1, 1)
    for (let other = 0; other < 1_000; other++) {
      recent.set(`${other}`, other, 1)
      expect(recent.get('hot')).toBe(1)
    }
  })

  it('keeps an entry whose part is used, while another cache shares the limit', () => {
    const room = createRoom(16)
    const recent = createRecent<number>(room)
    const others = createRecent<number>(room)
    const hot = recent.set('hot', 1, 1)
    const part = hot.hold(1, () => {})
    for (let other = 0; other < 1_000; other++) {
      others.set(`${other}`, other, 1)
      part.use()
      expect(part.isLeft).toBe(false)
    }
    expect(recent.get('hot')).toBe(1)
  })

  it('evicts the oldest unused entry, and does not keep entries over 1/16 of the limit', () => {
    const recent = createRecent<number>(createRoom(16))
    for (let key = 0; key < 17; key++) recent.set(`${key}`, key, 1)
    expect(['0', '1', '16'].map((key) => recent.get(key))).toEqual([undefined, 1, 16])
    recent.set('large', 1, 2)
    expect([recent.get('large'), recent.get('2')]).toEqual([undefined, 2])
  })

  it('evicts all parts of an entry once and refuses new parts afterwards', () => {
    const room = createRoom(100)
    const forgotten: string[] = []
    const owner = {}
    const whole = room.hold(5, () => void forgotten.push('whole'))
    notePlace(owner, whole)
    const part = whole.hold(3, () => void forgotten.push('part'))
    part.hold(2, () => void forgotten.push('part of the part'))
    expect([room.size, placeOf(owner)]).toEqual([10, whole])
    whole.leave()
    whole.leave()
    whole.hold(1, () => void forgotten.push('late'))
    expect(forgotten).toEqual(['whole', 'part', 'part of the part', 'late'])
    expect([room.size, placeOf(owner)]).toEqual([0, undefined])
  })

  it('stays within its limit and returns correct values after any operations', () => {
    const step = fc.record({
      key: fc.integer({ min: 0, max: 30 }),
      of: fc.option(fc.integer({ min: 0, max: 30 })),
      size: fc.integer({ min: 0, max: 8 }),
      does: fc.constantFrom('set', 'set', 'get', 'leave'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const room = createRoom(96)
        const recent = createRecent<number>(room)
        const kept = new Map<
          number,
          { readonly size: number; readonly place: Place; readonly of: Place | undefined }
        >()
        for (const { key, of, size, does } of steps) {
          if (does === 'get') recent.get(`${key}`)
          else if (does === 'leave') kept.get(key)?.place.leave()
          else {
            const whole = of === null || of === key ? undefined : kept.get(of)?.place
            kept.set(key, { size, place: recent.set(`${key}`, key, size, whole), of: whole })
          }
          const inRoom = [...kept.values()].filter(({ place }) => !place.isLeft)
          expect(room.size).toBe(inRoom.reduce((sum, one) => sum + one.size, 0))
          expect(room.size).toBeLessThanOrEqual(96)
          expect(inRoom.every((one) => one.of?.isLeft !== true)).toBe(true)
        }
        for (const [key, { place }] of kept) expect(recent.get(`${key}`)).toBe(place.isLeft ? undefined : key)
        recent.clear()
        expect(room.size).toBe(0)
      }),
    )
  })
})
