import { markdownTable, spreadOf } from '../src/index.ts'
import { percentile } from '../src/statistics.ts'
import type { BrokerName } from './brokers.ts'
import type { FleetSample } from './run.ts'

export const NAMES: Readonly<Record<BrokerName, string>> = {
  redis: 'Redis',
  cluster: 'Redis Cluster, 3 nodes',
  nats: 'NATS',
}

/** The samples of one fleet at one rate, one a round. */
export interface Cell {
  readonly broker: BrokerName
  readonly size: number
  /** Mutations a second, of all gateways together. */
  readonly rate: number
  readonly samples: FleetSample[]
}

type Pick = (sample: FleetSample, round: number) => number

function shown({ samples }: Cell, pick: Pick, digits = 0): string {
  const { median, min, max } = spreadOf(samples.map(pick))
  const [least, most] = [min.toFixed(digits), max.toFixed(digits)]
  return least === most ? least : `${median.toFixed(digits)} (${least}–${most})`
}

/** What heartbeats cost. */
export function idleTable(cells: readonly Cell[]): string {
  return markdownTable(
    ['broker', 'gateways', 'published', 'delivered', 'kB', 'broker, % of a core', 'a gateway, % of a core'],
    cells
      .filter(({ rate }) => rate === 0)
      .map((cell) => {
        const a =
          (pick: Pick): Pick =>
          (sample, round) =>
            pick(sample, round) / sample.seconds
        return [
          NAMES[cell.broker],
          String(cell.size),
          shown(
            cell,
            a((sample) => sample.published),
          ),
          shown(
            cell,
            a((sample) => sample.delivered),
          ),
          shown(
            cell,
            a((sample) => sample.kilobytes),
            1,
          ),
          shown(
            cell,
            a((sample) => sample.brokerMs / 10),
            1,
          ),
          shown(
            cell,
            a((sample) => sample.gatewaysMs / 10 / cell.size),
            1,
          ),
        ]
      }),
  )
}

const LOAD_HEAD = [
  'broker',
  'gateways',
  'mutations/s',
  'done/s',
  'published',
  'delivered',
  'kB',
  'passed on by nodes',
  'broker, CPU µs',
  'broker, % of a core',
  'a gateway, CPU ms',
  'last live query runs again, ms: p50, p99, worst',
  'its answer, ms: p50, p99, worst',
  'live runs',
  'stale reads',
]

/** What a mutation costs, without what there would be without it. */
export function loadTable(cells: readonly Cell[]): string {
  const rows = cells
    .filter(({ rate }) => rate > 0)
    .map((cell) => {
      const { broker, size, rate, samples } = cell
      const idle = cells.find((one) => one.broker === broker && one.size === size && one.rate === 0)
      const a =
        (pick: (sample: FleetSample) => number): Pick =>
        (sample, round) => {
          const without = idle?.samples[round]
          const ofIdle = without ? (pick(without) * sample.seconds) / without.seconds : 0
          return Math.max(0, pick(sample) - ofIdle) / sample.mutations
        }
      return [
        NAMES[broker],
        String(size),
        String(rate),
        shown(cell, ({ mutations, seconds }) => mutations / seconds),
        shown(
          cell,
          a((sample) => sample.published),
          1,
        ),
        shown(
          cell,
          a((sample) => sample.delivered),
        ),
        shown(
          cell,
          a((sample) => sample.kilobytes),
          1,
        ),
        broker === 'cluster'
          ? shown(
              cell,
              a((sample) => sample.passedOn),
            )
          : '–',
        shown(
          cell,
          a((sample) => sample.brokerMs * 1000),
        ),
        shown(cell, ({ brokerMs, seconds }) => brokerMs / 10 / seconds, 1),
        shown(
          cell,
          a((sample) => sample.gatewaysMs / size),
          1,
        ),
        times(samples, ({ evictedMs }) => evictedMs),
        times(samples, ({ answeredMs }) => answeredMs),
        shown(cell, ({ liveRuns, mutations }) => liveRuns / mutations, 1),
        String(samples.reduce((sum, { stale }) => sum + stale, 0)),
      ]
    })
  return markdownTable(LOAD_HEAD, rows)
}

function times(samples: readonly FleetSample[], pick: (sample: FleetSample) => readonly number[]): string {
  const all = samples.flatMap(pick)
  return [percentile(all, 0.5), percentile(all, 0.99), Math.max(...all)]
    .map((ms) => (Number.isFinite(ms) ? ms.toFixed(ms < 10 ? 1 : 0) : 'never'))
    .join(', ')
}
