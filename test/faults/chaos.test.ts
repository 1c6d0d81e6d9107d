import { expect, it } from 'vitest'
import { formatReport, summaryOf } from './chaos/report.ts'
import { runChaos } from './chaos/run.ts'
import { recordFigure } from './support/figures.ts'

/** The whole run is `pnpm test:chaos --seed 1 --minutes 5`. */
const SECONDS = 20

it(`chaos for ${SECONDS} s: no wrong answer, no exit, every live client converges`, async () => {
  const report = await runChaos({ seed: 1, seconds: SECONDS, clients: 100 })
  recordFigure({
    area: 'chaos',
    fault: `seed ${report.seed}, ${SECONDS} s, 100 clients`,
    asked: '0 wrong answers, 0 exits, typed errors only, live clients converge in 5 s',
    seen: summaryOf(report),
  })
  process.stdout.write(`${formatReport(report)}\n`)
  expect(report.violations).toEqual([])
  // A run in which nothing happened shows nothing.
  const { tally } = report
  expect(report.faults.size).toBeGreaterThan(3)
  expect(report.mutations.ok).toBeGreaterThan(10)
  const happened = ['cache HIT', 'live updates', 'deferred parts', 'error SERVICE_UNAVAILABLE']
  expect(happened.filter((what) => tally.of(what) === 0)).toEqual([])
}, 120_000)
