import { array, assert, asyncProperty, constantFrom, double, integer, oneof, tuple } from 'fast-check'
import { Counter, Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { keyed } from '@vinyasa/core'
import { counterTallies, histogramTallies } from '../src/observability/tallies.ts'

const BUCKETS = [0, 0.001, 0.25, 1, 10]
const labelled = tuple(
  constantFrom('/graphql', 'a"b', 'back\\slash', 'two\nlines', ''),
  constantFrom(200, 404),
)
const values = oneof(constantFrom(...BUCKETS), double({ min: -1, max: 20, noNaN: true }), integer())
const steps = array(
  oneof(
    tuple(constantFrom('histogram' as const), labelled, values),
    tuple(constantFrom('counter' as const), labelled, integer({ min: 1, max: 100_000 })),
    tuple(constantFrom('scrape' as const), labelled, values),
  ),
  { maxLength: 60 },
)
const HISTOGRAM = { name: 'duration_seconds', help: 'How long\nit "took".', buckets: BUCKETS }
const COUNTER = { name: 'things_total', help: 'Things.', labelNames: ['path', 'status'] }

it('tallies read as what prom-client counts itself, at each scrape', async () => {
  await assert(
    asyncProperty(steps, async (given) => {
      const [theirs, ours] = [new Registry(), new Registry()]
      const histogram = new Histogram({ ...HISTOGRAM, labelNames: COUNTER.labelNames, registers: [theirs] })
      const counter = new Counter({ ...COUNTER, registers: [theirs] })
      const histogramOf = histogramTallies({ ...HISTOGRAM, registry: ours })
      const counterOf = counterTallies({ ...COUNTER, registry: ours })
      const durations = keyed((path: string) => keyed((status: number) => histogramOf({ path, status })))
      const things = keyed((path: string) => keyed((status: number) => counterOf({ path, status })))
      const texts: (readonly [ours: string, theirs: string])[] = []
      const scrape = async (): Promise<unknown> => texts.push([await ours.metrics(), await theirs.metrics()])
      for (const [what, [path, status], value] of given) {
        switch (what) {
          case 'histogram':
            histogram.observe({ path, status }, value)
            durations(path)(status)(value)
            break
          case 'counter':
            counter.inc({ path, status }, value)
            things(path)(status)(value)
            break
          case 'scrape':
            await scrape()
        }
      }
      await scrape()
      expect(texts.map(([text]) => text)).toEqual(texts.map(([, text]) => text))
    }),
  )
})
