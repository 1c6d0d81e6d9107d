import { createRandom, type Random } from '@vinyasa/test-kit'
import {
  type CachePlan,
  type FixtureName,
  type SettingsPlan,
  USER_HEADERS,
  type UserHeaders,
} from './plan.ts'

const FORWARDS = [
  undefined,
  ['x-tenant'],
  ['authorization', 'x-tenant'],
  ['cookie'],
  ['x-region', 'x-tenant', 'cookie'],
  [],
] as const

export function drawSettings(random: Random, fixture: FixtureName): SettingsPlan {
  const isInProcess = isScripted(fixture)
  return {
    fixture,
    cache: random.chance(0.92) ? drawCache(random) : undefined,
    dedupe: random.pick(['operation', 'inflight', 'inflight', false]),
    plans: random.chance(0.7),
    grpcForward: random.pick(FORWARDS),
    restForward: random.pick(FORWARDS) ?? ['authorization'],
    restCacheSize: random.pick([0, 0, 100]),
    interceptor: isInProcess && random.chance(0.2),
    throttleMs: random.pick([0, 0, 20, 100]),
    guard:
      isInProcess && random.chance(0.5)
        ? random.pick(['onRequest', 'onRequestParse', 'onParams', 'onParams'] as const)
        : undefined,
  }
}

function drawCache(random: Random): CachePlan {
  const isShort = random.chance(0.25)
  return {
    strategy: random.pick(['types', 'types', 'entities', 'entities', 'all']),
    defaultTtlMs: isShort ? 200 : 60_000,
    staleWhileRevalidateMs: isShort || random.chance(0.3) ? 60_000 : 0,
    varyHeaders: random.pick([undefined, undefined, ['x-region'], ['authorization', 'x-region'], []]),
    hitsAt: random.pick(['auto', 'auto', 'execute']),
  }
}

/** Whether all of its servers run here, so that settings may be functions. */
export const isScripted = (fixture: FixtureName): boolean => !hasWorkers(fixture) && fixture !== 'mortal'

export const hasWorkers = (fixture: FixtureName): boolean => fixture === 'workers' || fixture === 'fleet'

/** Which kind of servers a world has: all of them come before one comes again. */
export function drawFixture(seed: number, world: number, fixtures: readonly FixtureName[]): FixtureName {
  const place = (world - 1) % fixtures.length
  const random = createRandom(seed, `fixtures ${(world - 1 - place) / fixtures.length}`)
  const shuffled = fixtures
    .map((fixture) => [fixture, random.next()] as const)
    .toSorted(([, a], [, b]) => a - b)
  return shuffled[place]![0]
}

/** One user, two that differ from the first by one header each, and one who shows nothing. */
export function drawUsers(random: Random): readonly UserHeaders[] {
  const base = Object.fromEntries(
    USER_HEADERS.filter((name) => name !== 'cookie' || random.chance(0.3)).map((name) => [
      name,
      valueOf(name, 'a'),
    ]),
  )
  const differing = USER_HEADERS.map((name) => [name, random.next()] as const)
    .toSorted(([, a], [, b]) => a - b)
    .map(([name]) => name)
  const other = (name: (typeof USER_HEADERS)[number]): UserHeaders => ({
    ...base,
    [name]: valueOf(name, 'b'),
  })
  return [base, other(differing[0]!), other(differing[1]!), {}]
}

function valueOf(name: string, who: string): string {
  if (name === 'authorization') return `Bearer ${who}`
  return name === 'cookie' ? `sid=${who}` : who
}
