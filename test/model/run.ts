import { createRandom, findRedisServer, type RedisServer, startRedis, Tally } from '@vinyasa/test-kit'
import { drawQuery } from './draw-operation.ts'
import { drawSchema } from './draw-schema.ts'
import { drawSettings, drawUsers } from './draw-settings.ts'
import { drawSteps } from './draw-steps.ts'
import { openPlaces } from './places.ts'
import type { FixtureName, ReadPlan, StepPlan, WorldPlan } from './plan.ts'
import { type Violation, World } from './world.ts'

export interface ModelOptions {
  readonly seed: number
  /** A world is begun while less than this has passed. */
  readonly seconds: number
  /** Only this world. Default: one after the other. */
  readonly world?: number | undefined
  readonly fixtures?: readonly FixtureName[] | undefined
  readonly print?: (line: string) => void
}

export interface WorldViolation extends Violation {
  readonly world: number
  readonly plan: WorldPlan
  readonly steps: readonly StepPlan[]
  /** Since the run began. */
  readonly afterSeconds: number
}

export interface ModelReport {
  readonly seed: number
  readonly seconds: number
  readonly worlds: number
  readonly tally: Tally
  readonly violations: readonly WorldViolation[]
}

const STEPS = 70
const POOL = 14
const LIVE_POOL = 8
const FIXTURES: readonly FixtureName[] = ['gateway', 'gateway', 'plugins', 'redis']

/** One random world after another, until the time is over. */
export async function runModel(options: ModelOptions): Promise<ModelReport> {
  const { seed, seconds, world, print = () => {} } = options
  const tally = new Tally()
  const violations: WorldViolation[] = []
  const startedAt = performance.now()
  const passed = (): number => (performance.now() - startedAt) / 1_000
  await using redis = lazyRedis()
  let worlds = 0
  for (let number = world ?? 1; passed() < seconds; number++) {
    const found = await runWorld(drawWorld(seed, number, options.fixtures ?? FIXTURES), redis, tally)
    worlds++
    if (found) {
      violations.push({ ...found, afterSeconds: passed() })
      print(describe(violations.at(-1)!))
    }
    if (world !== undefined) break
  }
  return { seed, seconds: passed(), worlds, tally, violations }
}

function drawWorld(seed: number, world: number, fixtures: readonly FixtureName[]): WorldPlan {
  const random = createRandom(seed, `world ${world}`)
  const settings = drawSettings(random, fixtures)
  const users = drawUsers(random)
  const isByEntity = settings.cache?.strategy === 'entities'
  return {
    seed,
    world,
    settings,
    users,
    schema: drawSchema(random, isByEntity, settings.fixture !== 'workers'),
  }
}

async function runWorld(
  plan: WorldPlan,
  redis: LazyRedis,
  tally: Tally,
): Promise<Omit<WorldViolation, 'afterSeconds'> | undefined> {
  const { seed, world, schema, settings } = plan
  tally.add(`world ${settings.fixture}`)
  await using opened = await openPlaces(plan, settings.fixture === 'redis' ? await redis.url() : undefined)
  const random = createRandom(seed, `steps ${world}`)
  const built = opened.places[0]!.tenant.schema
  const ofSources = ({ source }: ReadPlan): boolean => source !== 'own'
  // Those of sources alone come first: they may be live.
  const pool = Array.from({ length: POOL }, (_, place) =>
    drawQuery(random, built, schema, place < LIVE_POOL ? ofSources : undefined),
  )
  const steps = drawSteps(
    random,
    built,
    plan,
    { places: opened.places.length, operations: POOL, live: LIVE_POOL },
    STEPS,
  )
  const violation = await new World(plan, opened.places, pool, tally).run(steps)
  return violation && { ...violation, world, plan, steps }
}

interface LazyRedis extends AsyncDisposable {
  url(): Promise<string>
}

/** Started by the first world that needs it. */
function lazyRedis(): LazyRedis {
  if (!findRedisServer())
    throw new Error('No redis-server on PATH. Install it (Debian: apt-get install redis-server).')
  let server: Promise<RedisServer> | undefined
  return {
    async url() {
      server ??= startRedis()
      return (await server).url
    },
    async [Symbol.asyncDispose]() {
      await (await server)?.[Symbol.asyncDispose]()
    },
  }
}

/** What a person needs to see it again. */
export function describe(violation: WorldViolation): string {
  const { plan, world, step, what, operation, where, expected, got, afterSeconds, steps } = violation
  const { settings } = plan
  const last = steps[step]!
  const mutations = steps
    .slice(0, step + 1)
    .flatMap((taken) => (taken.kind === 'mutate' || taken.kind === 'race' ? [taken] : []))
    .slice(-2)
  return [
    `VIOLATION ${what}: seed ${plan.seed}:${world}, step ${step} (${last.kind}), after ${afterSeconds.toFixed(1)} s`,
    `  operation: ${operation}`,
    `  where: ${where}`,
    `  expected: ${JSON.stringify(expected)}`,
    `  got:      ${JSON.stringify(got)}`,
    ...mutations.map((taken) => `  mutation: ${JSON.stringify({ ...taken, probes: undefined })}`),
    `  settings: ${JSON.stringify(settings)}`,
  ].join('\n')
}
