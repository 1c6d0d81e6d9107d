import type { Random } from '@vinyasa/test-kit'
import type { GraphQLSchema } from 'graphql'
import { USUAL_USERS } from './draw-settings.ts'
import { drawMutation } from './draw-operation.ts'
import {
  type Outcome,
  READ_WAYS,
  type SettingsPlan,
  type StepPlan,
  type Way,
  type WorldPlan,
} from './plan.ts'

const OUTCOMES: readonly Outcome[] = [
  'answered',
  'answered',
  'answered',
  'answered',
  'failed after commit',
  'partly',
]

/** Every way in, and sockets, which are the easiest to forget, twice. */
const ATTACK_WAYS: readonly Way[] = [...READ_WAYS, 'graphql socket', 'live socket']

/** Live clients at a time. */
const WATCHING = 4

/** Reads of a race: few mutations change what one of them asks for. */
const RACING = 4

/** What happens in a world, in order. `operations` is how many reads its pool holds. */
export function drawSteps(
  random: Random,
  schema: GraphQLSchema,
  plan: WorldPlan,
  sizes: { readonly places: number; readonly operations: number; readonly live: number },
  count: number,
): StepPlan[] {
  const { settings, users } = plan
  const { places, operations, live } = sizes
  const by = () =>
    ({
      place: random.below(places),
      user: random.below(Math.min(users.length, USUAL_USERS)),
      // Most requests are the plain ones that a cache answers.
      way: random.chance(0.75) ? 'post' : random.pick(READ_WAYS),
    }) as const
  const read = () => ({ operation: random.below(operations), ...by() })
  const isByEntity = settings.cache?.strategy === 'entities'
  const mutation = (): string => drawMutation(random, schema, plan.schema, isByEntity)
  const probes = () => Array.from({ length: 6 }, read)
  let watching = 0

  const draws = {
    watch(): StepPlan {
      if (watching === WATCHING) return draws.leave()
      watching++
      return {
        kind: 'watch',
        ...read(),
        operation: random.below(live),
        transport: random.pick(['sse', 'graphql socket', 'live socket']),
      }
    },
    leave(): StepPlan {
      if (watching === 0) return draws.read()
      watching--
      return { kind: 'leave', client: random.below(WATCHING) }
    },
    mutate: (): StepPlan => ({
      kind: 'mutate',
      document: mutation(),
      outcome: drawOutcome(random, plan.schema.features.cuts),
      isWarm: random.chance(0.75),
      probes: probes(),
      ...by(),
    }),
    race: (): StepPlan => ({
      kind: 'race',
      document: mutation(),
      operations: Array.from({ length: RACING }, () => random.below(operations)),
      ...by(),
    }),
    attack: (): StepPlan => ({
      kind: 'attack',
      attack: drawAttack(random, settings),
      document: mutation(),
      ...by(),
      way: random.pick(ATTACK_WAYS),
    }),
    wait: (): StepPlan => ({ kind: 'wait', ms: 250 }),
    outage: (): StepPlan => ({
      kind: 'outage',
      fault: random.pick(['kill', 'freeze']),
      document: mutation(),
      place: random.below(2),
      probes: probes(),
    }),
    crowd: (): StepPlan => ({
      kind: 'crowd',
      operation: random.below(operations),
      place: random.below(places),
      way: random.pick(['post', 'post', 'get', 'shared get', 'shared get', 'batch']),
      isAtOnce: false,
    }),
    read: (): StepPlan => ({ kind: 'read', ...read() }),
  } satisfies Partial<Record<StepPlan['kind'], () => StepPlan>>
  const weights: Readonly<Record<keyof typeof draws, number>> = {
    ...plan.schema.features.steps,
    leave: 2,
    // Settings that a leak needs are rare; what shows it is not.
    crowd: plan.schema.code.length > 0 ? 20 : 5,
    wait: settings.cache?.defaultTtlMs === 200 ? 2 : 0,
    outage: settings.fixture === 'redis' || settings.fixture === 'fleet' ? 1 : 0,
  }
  const kinds = Object.entries(weights) as readonly (readonly [keyof typeof draws, number])[]
  const whole = kinds.reduce((sum, [, weight]) => sum + weight, 0)

  function draw(): StepPlan {
    let dice = random.between(0, whole)
    const [kind] = kinds.find(([, weight]) => (dice -= weight) < 0) ?? kinds[0]!
    return draws[kind]()
  }
  if (settings.fixture !== 'mortal') return Array.from({ length: count }, draw)
  const last: StepPlan = {
    kind: 'kill',
    document: mutation(),
    probes: probes().map((probe) => ({ ...probe, place: 0 })),
  }
  return [...Array.from({ length: Math.ceil(count / 3) }, draw), last]
}

function drawOutcome(random: Random, cuts: number): Outcome {
  if (random.chance(cuts)) return random.pick(['deadline', 'deadline', 'client leaves'])
  return random.pick(OUTCOMES)
}

/** À la carte, who owns the HTTP server says which pages may open sockets. */
function drawAttack(random: Random, { guard, fixture }: SettingsPlan): 'guard' | 'origin' {
  const usesGuard = random.chance(0.6)
  return fixture === 'plugins' || (guard !== undefined && usesGuard) ? 'guard' : 'origin'
}
