import { Counter, type Histogram, type Registry } from 'prom-client'

type Labels = Readonly<Record<string, string | number>>

export interface TallyOptions {
  readonly registry: Registry
  readonly name: string
  readonly help: string
}

/**
 * Adds to the series with some labels. To be kept by who counts: prom-client looks a series up by a text of all labels
 * at each observation, which costs more than the counting.
 */
export type Tally = (value: number) => void

/** A counter that prom-client is told of when it is scraped. Series are made when there is something to count in them. */
export function counterTallies(
  options: TallyOptions & { readonly labelNames: readonly string[] },
): (labels: Labels) => Tally {
  const { registry, name, help, labelNames } = options
  const series: { readonly labels: Labels; pending: number }[] = []
  const counter = new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      for (const one of series) {
        if (one.pending > 0) counter.inc(one.labels, one.pending)
        one.pending = 0
      }
    },
  })
  return (labels) => {
    const one = { labels, pending: 0 }
    series.push(one)
    return (value) => {
      one.pending += value
    }
  }
}

interface Series {
  readonly labels: Labels
  /** By bucket, each without those below it. */
  readonly counts: Float64Array
  count: number
  sum: number
}

/**
 * A histogram that counts by itself, as prom-client's can be given single observations only. What its registry reads of
 * a metric is `name`, `get()` and no more, and what adds several processes asks for `aggregator`; checked with 15.1.3.
 */
export function histogramTallies(
  options: TallyOptions & { /** Upper bounds, rising. */ readonly buckets: readonly number[] },
): (labels: Labels) => Tally {
  const { registry, name, help, buckets } = options
  const series: Series[] = []
  const metric = {
    name,
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: series.flatMap((one) => samplesOf(name, buckets, one)),
    }),
  }
  registry.registerMetric(metric as unknown as Histogram)
  return (labels) => {
    const one: Series = { labels, counts: new Float64Array(buckets.length), count: 0, sum: 0 }
    series.push(one)
    return (value) => {
      const bucket = bucketOf(buckets, value)
      if (bucket < buckets.length) (one.counts[bucket] as number)++
      one.count++
      one.sum += value
    }
  }
}

function bucketOf(buckets: readonly number[], value: number): number {
  let at = 0
  while (at < buckets.length && value > (buckets[at] as number)) at++
  return at
}

function samplesOf(name: string, buckets: readonly number[], series: Series): readonly object[] {
  const { labels, counts, count, sum } = series
  let below = 0
  return [
    ...buckets.map((bound, at) => ({
      metricName: `${name}_bucket`,
      labels: { le: bound, ...labels },
      value: (below += counts[at] as number),
    })),
    { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
