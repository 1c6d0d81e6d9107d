import type { Random } from '@vinyasa/test-kit'
import type { GraphQLSchema } from 'graphql'
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
      user: random.below(users.length),
      // Most requests are the plain ones that a cache answers.
      way: random.chance(0.75) ? 'post' : random.pick(READ_WAYS),
    }) as const
  const read = () => ({ operation: random.below(operations), ...by() })
  const isByEntity = settings.cache?.strategy === 'entities'
  const mutation = (): string => drawMutation(random, schema, plan.schema, isByEntity)
  const probes = () => Array.from({ length: 6 }, read)
  let watching = 0

  function draw(): StepPlan {
    const dice = random.next()
    if (dice < 0.08 && watching < 4) {
      watching++
      return {
        kind: 'watch',
        ...read(),
        operation: random.below(live),
        transport: random.pick(['sse', 'graphql socket', 'live socket']),
      }
    }
    if (dice < 0.1 && watching > 0) {
      watching--
      return { kind: 'leave', client: random.below(4) }
    }
    if (dice < 0.36) {
      const isWarm = random.chance(0.5)
      return {
        kind: 'mutate',
        document: mutation(),
        outcome: drawOutcome(random),
        isWarm,
        probes: probes(),
        ...by(),
      }
    }
    if (dice < 0.42) return { kind: 'race', document: mutation(), ...read() }
    if (dice < 0.48) {
      const attack = drawAttack(random, settings)
      return { kind: 'attack', attack, document: mutation(), ...by(), way: random.pick(ATTACK_WAYS) }
    }
    if (dice < 0.5 && settings.cache?.defaultTtlMs === 200) return { kind: 'wait', ms: 250 }
    if (dice < 0.51 && settings.fixture === 'redis') {
      const fault = random.pick(['kill', 'freeze'] as const)
      return { kind: 'outage', fault, document: mutation(), place: random.below(2), probes: probes() }
    }
    return { kind: 'read', ...read() }
  }
  if (settings.fixture !== 'mortal') return Array.from({ length: count }, draw)
  const last: StepPlan = {
    kind: 'kill',
    document: mutation(),
    probes: probes().map((probe) => ({ ...probe, place: 0 })),
  }
  return [...Array.from({ length: Math.ceil(count / 4) }, draw), last]
}

function drawOutcome(random: Random): Outcome {
  if (random.chance(0.06)) return random.pick(['deadline', 'client leaves'])
  return random.pick(OUTCOMES)
}

/** À la carte, who owns the HTTP server says which pages may open sockets. */
function drawAttack(random: Random, { guard, fixture }: SettingsPlan): 'guard' | 'origin' {
  const usesGuard = random.chance(0.6)
  return fixture === 'plugins' || (guard !== undefined && usesGuard) ? 'guard' : 'origin'
}
