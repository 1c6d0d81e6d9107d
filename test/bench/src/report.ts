import { median, type Spread, spreadOf } from './statistics.ts'
import type { ContenderResult, Sample, ScenarioResult, Target } from './types.ts'

export interface TargetOutcome extends Target {
  readonly ratio: number
  readonly met: boolean
}

/** The ratio is taken within each round, then the median of the rounds: what disturbs a round disturbs both. */
export function outcomes({ scenario, contenders }: ScenarioResult): TargetOutcome[] {
  return scenario.targets.map((target) => {
    const of = samplesOf(contenders, target.of)
    const against = samplesOf(contenders, target.against)
    const ratio = median(
      of.map(
        (sample, round) => sample.cpuMicrosPerRequest / (against[round]?.cpuMicrosPerRequest ?? Number.NaN),
      ),
    )
    return { ...target, ratio, met: ratio <= target.atMost }
  })
}

function samplesOf(contenders: readonly ContenderResult[], name: string): readonly Sample[] {
  const found = contenders.find((contender) => contender.name === name)
  if (!found) throw new Error(`No contender is called "${name}"`)
  return found.samples
}

/** A section of RESULTS.md. */
export function formatScenario(result: ScenarioResult): string {
  const { scenario, contenders } = result
  const first = contenders[0]
  const rows = contenders.map((contender) => {
    const of = (pick: (sample: Sample) => number): Spread => spreadOf(contender.samples.map(pick))
    const cpu = of((sample) => sample.cpuMicrosPerRequest)
    const versions = Object.entries(contender.versions).map(([name, version]) => `${name} ${version}`)
    return [
      contender.name,
      `${cpu.median.toFixed(0)} (${cpu.min.toFixed(0)}–${cpu.max.toFixed(0)})`,
      first ? (cpu.median / spreadOf(first.samples.map((s) => s.cpuMicrosPerRequest)).median).toFixed(2) : '',
      of((sample) => sample.requestsPerSecond).median.toFixed(0),
      of((sample) => sample.p50Ms).median.toFixed(2),
      of((sample) => sample.p99Ms).median.toFixed(2),
      (of((sample) => sample.rssBytes).median / 2 ** 20).toFixed(0),
      versions.join(', '),
    ]
  })
  const table = markdownTable(
    [
      'contender',
      'CPU µs a request',
      `× ${first?.name ?? ''}`,
      'requests/s',
      'p50 ms',
      'p99 ms',
      'RSS MB',
      'versions',
    ],
    rows,
  )
  const targets = outcomes(result).map(({ of, against, atMost, ratio, met }) => [
    `${of} ≤ ${atMost.toFixed(2)} × ${against}`,
    ratio.toFixed(2),
    met ? 'met' : '**missed**',
  ])
  const targetTable = targets.length > 0 ? `\n${markdownTable(['target', 'seen', ''], targets)}\n` : ''
  return `## ${scenario.title}\n\n${table}\n${targetTable}`
}

/** One row for each target of the contenders whose names begin so, of many scenarios. */
export function formatTargets(results: readonly ScenarioResult[], names: string): string {
  const rows = results.flatMap((result) => {
    const cpuOf = (name: string): string =>
      spreadOf(samplesOf(result.contenders, name).map((sample) => sample.cpuMicrosPerRequest)).median.toFixed(
        0,
      )
    return outcomes(result)
      .filter(({ of }) => of.startsWith(names))
      .map(({ of, against, atMost, ratio, met }) => [
        result.scenario.title,
        cpuOf(of),
        `${against}, ${cpuOf(against)}`,
        `≤ ${atMost}`,
        ratio.toFixed(2),
        met ? 'met' : '**missed**',
      ])
  })
  return markdownTable(['work', 'CPU µs a request', 'beside', 'aimed at', 'seen', ''], rows)
}

/** A table of Markdown. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
