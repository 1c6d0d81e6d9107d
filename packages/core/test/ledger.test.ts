import { describe, expect, it } from 'vitest'
import { createLedger } from '../src/index.ts'

describe('createLedger', () => {
  it('counts holdings that grow, shrink and are released', () => {
    const ledger = createLedger(100)
    const a = ledger.hold('a', 10)
    const b = ledger.hold('b', 20)
    a.resize(30)
    expect(ledger.bytes).toBe(50)
    b.release()
    b.resize(99)
    b.release()
    expect(ledger.bytes).toBe(30)
    a.resize(5)
    a.release()
    expect(ledger.bytes).toBe(0)
  })

  it('drops the largest holdings of the owner that holds most until an eighth is free', () => {
    const ledger = createLedger(100)
    const dropped: string[] = []
    const hold = (owner: string, bytes: number, name = owner): void => {
      ledger.hold(owner, bytes, () => dropped.push(name))
    }
    hold('large', 30, 'large 1')
    hold('large', 10, 'large 2')
    hold('single', 35)
    hold('small', 20)
    expect(dropped).toEqual([])
    hold('late', 10)
    expect(dropped).toEqual(['large 1'])
    expect(ledger.bytes).toBe(75)
  })

  it('drops the new holding if it is the largest', () => {
    const ledger = createLedger(100)
    const dropped: string[] = []
    ledger.hold('early', 60, () => dropped.push('early'))
    const late = ledger.hold('late', 61, () => dropped.push('late'))
    expect(dropped).toEqual(['late'])
    late.resize(50)
    expect(ledger.bytes).toBe(60)
  })

  it('is full while the remaining holdings cannot be dropped', () => {
    const ledger = createLedger(100)
    const fixed = ledger.hold('fixed', 101)
    expect(ledger.isFull).toBe(true)
    fixed.resize(100)
    expect(ledger.isFull).toBe(false)
  })

  it('treats each holding without an owner as a separate owner', () => {
    const ledger = createLedger(100)
    const dropped: number[] = []
    for (let index = 0; index < 10; index++) ledger.hold(undefined, 8, () => dropped.push(index))
    ledger.hold('one', 12, () => dropped.push(-1))
    expect(dropped).toEqual([])
    ledger.hold('one', 12, () => dropped.push(-2))
    expect(dropped).toEqual([-1, -2])
  })

  it('counts correctly if a drop releases and resizes other holdings', () => {
    const ledger = createLedger(100)
    const second = ledger.hold('b', 40, () => {})
    ledger.hold('a', 50, () => second.release())
    ledger.hold('c', 20, () => {})
    expect(ledger.bytes).toBe(20)
  })
})
