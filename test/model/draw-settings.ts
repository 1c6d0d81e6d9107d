import { createRandom, type Random } from '@vinyasa/test-kit'
import { tokenOf } from './code-side.ts'
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
    ...drawCodeSettings(random, fixture),
    throttleMs: random.pick([0, 0, 20, 100]),
    guard:
      isInProcess && random.chance(0.5)
        ? random.pick(['onRequest', 'onRequestParse', 'onParams', 'onParams'] as const)
        : undefined,
  }
}

/** Production as for the rest, so that what nobody declared is not an error. */
function drawCodeSettings(
  random: Random,
  fixture: FixtureName,
): Pick<SettingsPlan, 'hasCode' | 'jwt' | 'preset' | 'session'> {
  const isInProcess = isScripted(fixture)
  const hasCode = isInProcess && random.chance(0.6)
  const isGateway = isInProcess && fixture !== 'plugins'
  return {
    hasCode,
    jwt: isGateway && random.chance(0.4),
    preset: isGateway && hasCode && random.chance(0.7) ? 'production' : 'development',
    session: isInProcess && random.chance(0.2),
  }
}

function drawCache(random: Random): CachePlan {
  const isShort = random.chance(0.25)
  return {
    strategy: random.pick(['types', 'types', 'entities', 'entities', 'all']),
    defaultTtlMs: isShort ? 200 : 60_000,
    staleWhileRevalidateMs: isShort || random.chance(0.3) ? 60_000 : 0,
    varyHeaders: random.pick([undefined, undefined, ['x-region'], ['authorization', 'x-region'], []]),
    clientMaxAge: random.chance(0.4),
  }
}

/** Whether all of its servers run here, so that settings may be functions. */
export const isScripted = (fixture: FixtureName): boolean => !hasWorkers(fixture) && fixture !== 'mortal'

const hasWorkers = (fixture: FixtureName): boolean => fixture === 'workers' || fixture === 'fleet'

/** Which kind of servers a world has: all of them come before one comes again. */
export function drawFixture(seed: number, world: number, fixtures: readonly FixtureName[]): FixtureName {
  const place = (world - 1) % fixtures.length
  const random = createRandom(seed, `fixtures ${(world - 1 - place) / fixtures.length}`)
  const shuffled = fixtures
    .map((fixture) => [fixture, random.next()] as const)
    .toSorted(([, a], [, b]) => a - b)
  return shuffled[place]![0]
}

/** How many of the users do what is drawn for one. */
export const USUAL_USERS = 4

/** One user, two that differ from the first by one header each, one who shows nothing, and the others of a crowd. */
export function drawUsers(
  random: Random,
  jwt: boolean,
  hasCookie: boolean = random.chance(0.3),
): readonly UserHeaders[] {
  const base = Object.fromEntries(
    USER_HEADERS.filter((name) => name !== 'cookie' || hasCookie).map((name) => [
      name,
      valueOf(name, 'a', jwt),
    ]),
  )
  const differing = USER_HEADERS.map((name) => [name, random.next()] as const)
    .toSorted(([, a], [, b]) => a - b)
    .map(([name]) => name)
  const other = (name: (typeof USER_HEADERS)[number]): UserHeaders => ({
    ...base,
    [name]: valueOf(name, 'b', jwt),
  })
  return [base, other(differing[0]!), other(differing[1]!), {}, ...differing.slice(2).map(other)]
}

function valueOf(name: string, who: string, jwt: boolean): string {
  if (name === 'authorization') return `Bearer ${jwt ? tokenOf(who) : who}`
  return name === 'cookie' ? `sid=${who}` : who
}
