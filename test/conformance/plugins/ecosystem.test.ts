import { describe, expect, it } from 'vitest'
import { OBSERVING } from './observing.ts'
import { REFUSING } from './refusing.ts'
import { startWorld } from './world.ts'

// What plugins of the ecosystem promise holds in the gateway: at the first request, and at those whose document and answer
// are known.

describe.each([
  ['with the cache', true],
  ['without it', false],
])('%s', (_, isCached) => {
  it.each([...REFUSING, ...OBSERVING].map((row) => [row.name, row.promise, row] as const))(
    '%s: %s',
    async (__, ___, row) => {
      expect.hasAssertions()
      await row.holds(await startWorld(row, isCached))
    },
  )
})
