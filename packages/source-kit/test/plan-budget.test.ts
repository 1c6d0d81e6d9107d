import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createPlanBudget } from '../src/plan/plan-budget.ts'

it('forgets the oldest plans, and only as many as there is no room for', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 60 }), (sizes) => {
      const kept: number[] = []
      const budget = createPlanBudget(5_000)
      for (const [index, size] of sizes.entries()) {
        kept.push(index)
        budget.add(size, () => void kept.splice(kept.indexOf(index), 1))
        const taken = kept.reduce((sum, one) => sum + (sizes[one] as number) + 100, 0)
        expect(taken).toBeLessThanOrEqual(5_000)
        // The newest of them, without a gap.
        expect(kept).toEqual(Array.from({ length: kept.length }, (_, at) => index + 1 - kept.length + at))
        const before = index - kept.length
        expect(before < 0 || taken + (sizes[before] as number) + 100 > 5_000).toBe(true)
      }
    }),
  )
})
