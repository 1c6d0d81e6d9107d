import type { Random } from '@vinyasa/test-kit'
import type { GraphQLSchema } from 'graphql'
import { drawMutation } from './draw-operation.ts'
import type { Pool } from './draw-pool.ts'
import type { StepPlan, WorldPlan } from './plan.ts'

/** A live client costs a connection and runs again with each mutation. */
const LIVE_OPERATIONS = 5
const TRANSPORTS = ['sse', 'graphql socket', 'live socket'] as const

/** Everybody asks for the same: of the server's cache, in turn or at once, of one on the way, and live. */
export function drawTurns(random: Random, schema: GraphQLSchema, plan: WorldPlan, pool: Pool): StepPlan[] {
  const shuffled = pool.operations
    .map((_, operation) => [operation, random.next()] as const)
    .toSorted(([, a], [, b]) => a - b)
    .map(([operation]) => operation)
  const live = new Set(shuffled.filter((operation) => operation < pool.live).slice(0, LIVE_OPERATIONS))
  return shuffled.flatMap((operation, place): StepPlan[] => [
    { kind: 'crowd', operation, place: 0, way: 'post', isAtOnce: place % 2 === 1 },
    { kind: 'crowd', operation, place: 0, way: 'shared get', isAtOnce: false },
    ...(live.has(operation) ? drawWatched(random, schema, plan, operation) : []),
  ])
}

function drawWatched(
  random: Random,
  schema: GraphQLSchema,
  plan: WorldPlan,
  operation: number,
): readonly StepPlan[] {
  const transport = random.pick(TRANSPORTS)
  const by = { place: 0, user: 0, way: 'post' } as const
  return [
    ...plan.users.map((_, user): StepPlan => ({ ...by, kind: 'watch', operation, user, transport })),
    {
      ...by,
      kind: 'mutate',
      document: drawMutation(random, schema, plan.schema, false),
      outcome: 'answered',
      isWarm: false,
      probes: [],
    },
    ...plan.users.map((): StepPlan => ({ kind: 'leave', client: 0 })),
  ]
}
