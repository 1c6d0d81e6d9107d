import { expect, it } from 'vitest'
import { runCases } from './run.ts'

it('random users with random rights get what the rules say, from resolvers, plans and the cache', async () => {
  const report = await runCases(1500, 1)
  expect(report.wrong).toEqual([])
  expect(report.unshared).toBe(0)
  expect(report.refused).toBeGreaterThan(200)
  expect(report.shared).toBeGreaterThan(100)
  expect(report.overSockets).toBeGreaterThan(200)
  expect(report.hits).toBeGreaterThan(200)
}, 120_000)
