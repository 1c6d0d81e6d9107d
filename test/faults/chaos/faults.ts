import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { createRandom, type Random, type SpawnedProcess } from '@vinyasa/test-kit'

export type FaultKind =
  | 'users killed'
  | 'users stopped'
  | 'users slowed'
  | 'users restarted'
  | 'shop killed'
  | 'shop stopped'
  | 'shop slowed'
  | 'shop restarted'
  | 'Redis killed'
  | 'Redis stopped'
  | 'Redis slowed'
  | 'gateway rolled'
  | 'config reloaded'
  | 'broken config reloaded'

/** Things that go wrong one after another in one place; each place has a lane of its own. */
const LANES: Readonly<Record<string, readonly FaultKind[]>> = {
  users: ['users killed', 'users stopped', 'users slowed', 'users restarted'],
  shop: ['shop killed', 'shop stopped', 'shop slowed', 'shop restarted'],
  redis: ['Redis killed', 'Redis stopped', 'Redis slowed'],
  gateways: ['gateway rolled', 'config reloaded', 'config reloaded', 'broken config reloaded'],
}

export interface Faults {
  /** Breaks things until the time is over; resolves when everything is whole again. */
  storm(untilMs: number): Promise<void>
  readonly counts: ReadonlyMap<FaultKind, number>
  /** What was done when, for the report of a violation. */
  readonly log: readonly string[]
}

/** The same seed gives the same faults in the same order with the same pauses. */
export function createFaults(cluster: Cluster, seed: number): Faults {
  const counts = new Map<FaultKind, number>()
  const log: string[] = []
  const lanes = Object.entries(LANES).map(([name, kinds]) => ({
    kinds,
    random: createRandom(seed, `faults ${name}`),
  }))
  let configs = 0
  // A gateway starts only where Redis is.
  let redisLane = Promise.resolve()

  const note = (text: string): void => void log.push(`${new Date().toISOString().slice(14, 23)} ${text}`)

  async function cause(kind: FaultKind, random: Random): Promise<void> {
    const forMs = random.between(300, 3_000)
    const turn = random.next()
    note(`${kind} for ${Math.round(forMs)} ms`)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    const { users, shop, redis } = cluster
    switch (kind) {
      case 'users killed':
      case 'shop killed': {
        const backend = kind === 'users killed' ? users : shop
        await backend.process.kill('SIGKILL')
        await sleep(forMs)
        return backend.start()
      }
      case 'users restarted':
      case 'shop restarted': {
        const backend = kind === 'users restarted' ? users : shop
        await backend.process.kill('SIGTERM')
        return backend.start()
      }
      case 'users stopped':
      case 'shop stopped':
        return stopped((kind === 'users stopped' ? users : shop).process, forMs)
      case 'users slowed':
      case 'shop slowed':
        return slowed((kind === 'users slowed' ? users : shop).process, forMs)
      case 'Redis killed':
      case 'Redis stopped':
      case 'Redis slowed':
        redisLane = redisLane.then(async () => {
          if (kind === 'Redis stopped') return stopped({ stop: redis.stop, cont: redis.cont }, forMs)
          if (kind === 'Redis slowed') return slowed({ stop: redis.stop, cont: redis.cont }, forMs)
          await redis.kill()
          await sleep(forMs)
          return redis.restart()
        })
        return redisLane
      case 'gateway rolled':
        redisLane = redisLane.then(() => cluster.roll())
        return redisLane
      case 'config reloaded':
      case 'broken config reloaded': {
        const slot = cluster.slots[turn < 0.5 ? 0 : 1]
        slot.writeConfig(kind === 'config reloaded' ? cluster.config(configs++) : '{ "rest": { "shop": ')
        // The second one watches the file by itself.
        if (turn < 0.5) slot.process.signal('SIGHUP')
      }
    }
  }

  return {
    counts,
    log,
    async storm(untilMs) {
      await Promise.all(
        lanes.map(async ({ kinds, random }) => {
          for (;;) {
            await sleep(random.between(300, 4_000))
            if (performance.now() >= untilMs) return
            await cause(random.pick(kinds), random)
          }
        }),
      )
      // Both end with a config that works.
      for (const slot of cluster.slots) slot.writeConfig(cluster.config(configs++))
      cluster.slots[0].process.signal('SIGHUP')
      await sleep(1_500)
      note('quiet')
    },
  }
}

type Freezable = Pick<SpawnedProcess, 'stop' | 'cont'>

async function stopped(process: Freezable, ms: number): Promise<void> {
  process.stop()
  await sleep(ms)
  process.cont()
}

/** A process that gets a fifth of its time: it answers, late. */
async function slowed(process: Freezable, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end;) {
    await stopped(process, 80)
    await sleep(20)
  }
}
