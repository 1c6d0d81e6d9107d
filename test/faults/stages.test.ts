import { expect, it } from 'vitest'
import { recordFigure } from './support/figures.ts'
import { runStages } from './stages/run.ts'

/** `FAULTS_SEED=7` draws others; `pnpm test:stages` draws 20,000. */
const SEED = Number(process.env['FAULTS_SEED'] ?? 1)
const COUNT = process.env['FAULTS_QUICK'] === '1' ? 300 : 1_500

it.each([false, true])(
  'requests with anything wrong at any stage have an answer in its deadline; files are streamed: %s',
  async (uploads) => {
    const violations: string[] = []
    const statuses = await runStages({
      seed: SEED,
      count: COUNT,
      uploads,
      onViolation: (text) => violations.push(text),
    })
    recordFigure({
      area: 'HTTP',
      fault: `${COUNT} requests, anything wrong at any stage${uploads ? ', files streamed' : ''}`,
      asked: 'an answer in its deadline each, none 500, all places free',
      seen: `${violations.length} without; ${[...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')}`,
    })
    expect(violations).toEqual([])
  },
  180_000,
)
