import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '@vinyasa/test-kit'
import type { RunningBroker } from './brokers.ts'
import { now, type RunningGateway } from './gateways.ts'

/** What was seen of one fleet at one rate. */
export interface FleetSample {
  readonly mutations: number
  readonly seconds: number
  readonly published: number
  readonly delivered: number
  readonly kilobytes: number
  /** From node to node of a cluster. */
  readonly passedOn: number
  readonly brokerMs: number
  /** Of all gateways. */
  readonly gatewaysMs: number
  readonly liveRuns: number
  /** Reads that began after a mutation's answer and got what was older than it. */
  readonly stale: number
  /** Of each mutation, milliseconds from its commit until the last gateway's live query ran again, which its eviction comes before. */
  readonly evictedMs: readonly number[]
  /** Of each mutation, milliseconds from its request to its answer, which waits for all gateways. */
  readonly answeredMs: readonly number[]
}

interface Mutation {
  readonly committedAt: number
  readonly answeredMs: number
}

/** Fails where a gateway does not answer from its cache. */
export async function checkCaches(gateways: readonly RunningGateway[]): Promise<void> {
  for (const gateway of gateways)
    await waitUntil(async () => (await gateway.read()).isHit, { awaited: 'an answer from a cache' })
}

/**
 * Changes the item at a steady rate by each gateway in turn; before and after each change the next gateway is asked for it.
 * `toOne` is the share of messages, heartbeats aside, that are for one gateway alone, where the broker does not count deliveries.
 */
export async function runFleet(
  broker: RunningBroker,
  gateways: readonly RunningGateway[],
  perSecond: number,
  seconds: number,
  toOne = 0,
): Promise<FleetSample> {
  for (const { runs } of gateways) runs.length = 0
  const of = (index: number): RunningGateway => gateways[index % gateways.length] as RunningGateway
  let stale = 0

  async function mutate(index: number): Promise<Mutation> {
    await of(index + 1).read()
    const sentAt = now()
    const committedAt = await of(index).change()
    const answeredMs = now() - sentAt
    const { at } = await of(index + 1).read()
    if (at < committedAt) stale++
    return { committedAt, answeredMs }
  }

  const cpuOf = (): number => gateways.reduce((sum, gateway) => sum + gateway.cpuMs(), 0)
  const [before, cpuBefore, beganAt] = [await broker.counts(), cpuOf(), now()]
  const count = perSecond * seconds
  const pending: Promise<Mutation>[] = []
  for (let index = 0; index < count; index++) {
    await sleep(beganAt + (index * 1000) / perSecond - now())
    pending.push(mutate(index))
  }
  const mutations = await Promise.all(pending)
  await sleep(beganAt + seconds * 1000 - now())
  // A run that follows late is late, not lost.
  if (count > 0)
    await waitUntil(() => gateways.every(({ runs }) => runs.length >= count), { timeoutMs: 2_000 }).catch(
      () => {},
    )
  const [after, cpuAfter, lasted] = [await broker.counts(), cpuOf(), (now() - beganAt) / 1000]
  const published = after.published - before.published
  const forOne = toOne * Math.max(0, published - gateways.length * lasted)
  const estimated = forOne + (published - forOne) * gateways.length
  const commits = mutations.map(({ committedAt }) => committedAt).sort((a, b) => a - b)
  return {
    stale,
    mutations: count,
    seconds: lasted,
    published,
    delivered: (after.delivered ?? estimated) - (before.delivered ?? 0),
    kilobytes: (after.bytes - before.bytes) / 1000,
    passedOn: after.passedOn - before.passedOn,
    brokerMs: after.cpuMs - before.cpuMs,
    gatewaysMs: cpuAfter - cpuBefore,
    liveRuns: gateways.reduce((sum, { runs }) => sum + runs.length, 0),
    evictedMs: lastRunsAfter(
      commits,
      gateways.map(({ runs }) => runs),
    ),
    answeredMs: mutations.map(({ answeredMs }) => answeredMs),
  }
}

/** Of each commit the milliseconds until the last gateway had run. */
function lastRunsAfter(commits: readonly number[], runsOf: readonly (readonly number[])[]): number[] {
  return commits.map((committedAt, index) => {
    const delays = runsOf.map((runs) => {
      // A run for each; where some were merged, the first one that may have shown it.
      const at = runs.length === commits.length ? runs[index] : runs.find((run) => run >= committedAt)
      return at === undefined ? Number.POSITIVE_INFINITY : at - committedAt
    })
    return Math.max(...delays)
  })
}
