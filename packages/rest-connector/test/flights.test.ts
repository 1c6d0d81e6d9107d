import type { Callers } from '@vinyasa/core'
import { expect, it } from 'vitest'
import { createFlights } from '../src/call/cache/flights.ts'

it.each(['that arrives', 'that fails'])(
  'a flight %s knows nobody who waited for it any more: it may be old by then',
  async (how) => {
    const flights = createFlights<string>({ onShared() {} })
    let known: Callers | undefined
    const first = { name: 'first' }
    const start = async (_ending: unknown, callers: Callers): Promise<string> => {
      known = callers
      expect(callers.first).toBe(first)
      await Promise.resolve()
      if (how === 'that fails') throw new Error('failed')
      return 'arrived'
    }
    const waits = [first, { name: 'second' }].map((context) =>
      flights.join('key', { ending: undefined, context }, start).catch(() => {}),
    )
    await Promise.all(waits)
    expect(known?.first).toBeUndefined()
    const told: unknown[] = []
    known?.tellOf((context) => told.push(context))
    expect(told).toEqual([undefined])
  },
)
