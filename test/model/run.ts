import { createRandom, findRedisServer, type RedisServer, startRedis, Tally } from '@vinyasa/test-kit'
import { drawVariesBy } from './draw-callers.ts'
import { drawFeatures } from './draw-features.ts'
import { drawPool } from './draw-pool.ts'
import { drawSchema } from './draw-schema.ts'
import { drawFixture, drawSettings, drawUsers, isScripted } from './draw-settings.ts'
import { drawSteps } from './draw-steps.ts'
import { drawTurns } from './draw-turns.ts'
import { openPlaces } from './places.ts'
import type { FixtureName, StepPlan, WorldKind, WorldPlan } from './plan.ts'
import type { Violation } from './observer.ts'
import { World } from './world.ts'

export interface ModelOptions {
  readonly seed: number
  /** A world, and a step of one, is begun while less than this has passed. */
  readonly seconds: number
  /** Only this world. Default: one after the other. */
  readonly world?: number | undefined
  readonly fixtures?: readonly WorldKind[] | undefined
  /** No world is begun after the first violation. Default false. */
  readonly untilBroken?: boolean | undefined
  readonly print?: (line: string) => void
}

export interface WorldViolation extends Violation {
  readonly world: number
  readonly plan: WorldPlan
  readonly steps: readonly StepPlan[]
  /** Since the run began. */
  readonly afterSeconds: number
  /** That this process computed until then: on a busy machine the better measure. */
  readonly afterCpuSeconds: number
}

export interface ModelReport {
  readonly seed: number
  readonly seconds: number
  readonly worlds: number
  readonly tally: Tally
  readonly violations: readonly WorldViolation[]
}

const STEPS = 40
/** Worlds at a time: while one waits for a process or a deadline, others go on. */
const LANES = 4
const KINDS: readonly WorldKind[] = [
  'callers',
  'gateway',
  'gateway',
  'gateway',
  'plugins',
  'plugins',
  'redis',
  'redis',
  'workers',
  'mortal',
  'fleet',
]

const USES_REDIS: ReadonlySet<FixtureName> = new Set(['redis', 'mortal', 'fleet'])

/** Random worlds, one after another in each lane, until the time is over. */
export async function runModel(options: ModelOptions): Promise<ModelReport> {
  const { seed, seconds, world, fixtures = KINDS, untilBroken = false, print = () => {} } = options
  const tally = new Tally()
  const violations: WorldViolation[] = []
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  const passed = (): number => (performance.now() - startedAt) / 1_000
  let worlds = 0

  async function run(number: number, redis: LazyRedis, isOver?: () => boolean): Promise<Found | undefined> {
    const found = await runWorld(drawWorld(seed, number, fixtures), { redis, tally, isOver })
    worlds++
    if (!found) return undefined
    const { user, system } = process.cpuUsage(cpuBefore)
    const afterCpuSeconds = (user + system) / 1_000_000
    violations.push({ ...found, world: number, afterSeconds: passed(), afterCpuSeconds })
    print(describe(violations.at(-1)!))
    return found
  }

  if (world !== undefined) {
    await using redis = lazyRedis()
    const found = await run(world, redis)
    if (found)
      print(
        `  needed: ${(await shrink(found, redis)).map((step) => `\n    ${JSON.stringify(step)}`).join('')}`,
      )
  } else {
    let next = 1
    const isLate = (): boolean => passed() >= seconds
    const isOver = (): boolean => isLate() || (untilBroken && violations.length > 0)
    const lane = async (): Promise<void> => {
      // One of its own, as it is killed and frozen.
      await using redis = lazyRedis()
      while (!isOver()) await run(next++, redis, isLate)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }
  return { seed, seconds: passed(), worlds, tally, violations }
}

/** Every other world is a small one. */
function drawWorld(seed: number, world: number, kinds: readonly WorldKind[]): WorldPlan {
  const random = createRandom(seed, `world ${world}`)
  const fixtures = kinds.filter((kind) => kind !== 'callers')
  const turns = fixtures.length > 0 && fixtures.length < kinds.length ? 2 : 1
  const isSmall = fixtures.length === 0 || (turns === 2 && world % 2 === 1)
  const turn = Math.ceil(world / turns)
  if (isSmall) return { seed, world, ...drawVariesBy(random, turn - 1) }
  const settings = drawSettings(random, drawFixture(seed, turn, fixtures))
  const users = drawUsers(random, settings.jwt)
  const isByEntity = settings.cache?.strategy === 'entities'
  const schema = drawSchema(random, drawFeatures(random), isByEntity, isScripted(settings.fixture), settings)
  return { seed, world, kind: 'free', settings, users, schema }
}

interface Found extends Violation {
  readonly plan: WorldPlan
  readonly steps: readonly StepPlan[]
}

interface WorldRun {
  readonly redis: LazyRedis
  readonly tally: Tally
  /** Chooses among the steps that the seed draws. */
  readonly only?: (steps: readonly StepPlan[]) => readonly StepPlan[]
  readonly isOver?: (() => boolean) | undefined
}

async function runWorld(
  plan: WorldPlan,
  { redis, tally, only = (steps) => steps, isOver = () => false }: WorldRun,
): Promise<Found | undefined> {
  const { seed, world, kind, settings } = plan
  tally.add(`world ${kind === 'callers' ? kind : settings.fixture}`)
  const server = USES_REDIS.has(settings.fixture) ? await redis.get() : undefined
  await using opened = await openPlaces(plan, server?.url)
  const random = createRandom(seed, `steps ${world}`)
  const built = opened.places[0]!.tenant.schema
  const pool = drawPool(random, built, plan)
  const { places } = opened
  const operations = pool.operations.length
  const drawn =
    plan.kind === 'callers'
      ? drawTurns(random, built, plan, pool)
      : drawSteps(random, built, plan, { places: places.length, operations, live: pool.live }, STEPS)
  const steps = only(drawn)
  const parts = { plan, places, pool: pool.operations, tally, redis: server, isOver }
  const violation = await new World(parts).run(steps)
  return violation && { ...violation, plan, steps }
}

/** The steps without which the same kind of violation is not seen: halves are dropped, then quarters, and so on. */
async function shrink({ plan, step, steps, what }: Found, redis: LazyRedis): Promise<readonly StepPlan[]> {
  let kept = steps.slice(0, step + 1)
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length;) {
      const fewer = kept.toSpliced(from, size)
      const found = await runWorld(plan, { redis, tally: new Tally(), only: () => fewer })
      if (found?.what === what) kept = fewer.slice(0, found.step + 1)
      else from += size
    }
  }
  return kept
}

interface LazyRedis extends AsyncDisposable {
  get(): Promise<RedisServer>
}

/** Started by the first world that needs it. */
function lazyRedis(): LazyRedis {
  if (!findRedisServer())
    throw new Error('No redis-server on PATH. Install it (Debian: apt-get install redis-server).')
  let server: Promise<RedisServer> | undefined
  return {
    get: () => (server ??= startRedis()),
    async [Symbol.asyncDispose]() {
      await (await server)?.[Symbol.asyncDispose]()
    },
  }
}

/** What a person needs to see it again. */
export function describe(violation: WorldViolation): string {
  const { plan, world, step, what, operation, where, expected, got, afterSeconds, afterCpuSeconds, steps } =
    violation
  const { settings } = plan
  const last = steps[step]!
  const mutations = steps
    .slice(0, step + 1)
    .flatMap((taken) => (taken.kind === 'mutate' || taken.kind === 'race' ? [taken] : []))
    .slice(-2)
  return [
    `VIOLATION ${what}: seed ${plan.seed}:${world}, step ${step} (${last.kind}), after ${afterSeconds.toFixed(1)} s (${afterCpuSeconds.toFixed(1)} s of CPU)`,
    `  operation: ${operation}`,
    `  where: ${where}`,
    `  expected: ${JSON.stringify(expected)}`,
    `  got:      ${JSON.stringify(got)}`,
    ...mutations.map((taken) => `  mutation: ${JSON.stringify({ ...taken, probes: undefined })}`),
    `  settings: ${JSON.stringify(settings)}`,
  ].join('\n')
}
