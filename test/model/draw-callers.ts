import type { Random } from '@vinyasa/test-kit'
import { drawFeatures } from './draw-features.ts'
import { drawUsers } from './draw-settings.ts'
import type {
  CodePlan,
  EntityPlan,
  MutationPlan,
  ReadPlan,
  SchemaPlan,
  SettingsPlan,
  SourceName,
  StatementPlan,
  USER_HEADERS,
  UserHeaders,
  WorldPlan,
} from './plan.ts'
import { lower, upper } from './shapes.ts'

type Header = (typeof USER_HEADERS)[number]

/** By what callers differ, and what has to notice: a token, a source, an option of the cache, a session. */
interface Row {
  readonly who: Header
  readonly forward: readonly string[]
  readonly varyHeaders?: readonly string[]
  readonly settings: Partial<SettingsPlan>
}

const ROWS: readonly Row[] = [
  // No source forwards the token, and a list of one's own for `Vary` does not name it.
  {
    who: 'authorization',
    forward: ['x-tenant'],
    varyHeaders: ['x-region'],
    settings: { jwt: true, preset: 'production' },
  },
  { who: 'x-tenant', forward: ['x-tenant'], settings: { preset: 'production' } },
  { who: 'x-secret', forward: ['x-tenant'], settings: { interceptor: true } },
  { who: 'cookie', forward: ['cookie', 'x-tenant'], settings: { preset: 'production' } },
  {
    who: 'x-region',
    forward: ['x-tenant'],
    // The context of these servers reads the token.
    varyHeaders: ['authorization', 'x-region'],
    settings: { fixture: 'plugins' },
  },
  {
    who: 'authorization',
    forward: ['authorization'],
    settings: { jwt: true, session: true, preset: 'production' },
  },
]

/** As many as have no divisor in common with the rows, so that each meets each row. */
const STATEMENTS: readonly StatementPlan[] = [
  { place: 'Named', word: 'private', isByHand: true },
  { place: 'Query', word: 'private', isByHand: true },
  { place: 'Named.text', word: 'never', isByHand: true },
  { place: 'Either', word: 'private', isByHand: true },
  { place: 'Fox', word: 'never', isByHand: true },
  { place: 'Ant', word: 'never', isByHand: false },
  { place: 'Query.bees', word: 'never', isByHand: false },
]

const TYPES: readonly (readonly [string, SourceName])[] = [
  ['Ant', 'grpc'],
  ['Bee', 'rest'],
  ['Fox', 'own'],
  ['Gnu', 'own'],
]

/**
 * A small world that is about who asks: every kind of resolver in it, the rest by `index` in rotation, so that a few of
 * them have had all.
 */
export function drawVariesBy(random: Random, index: number): Omit<WorldPlan, 'seed' | 'world'> {
  const row = ROWS[index % ROWS.length]!
  const settings = settingsOf(random, row, (index + Math.floor(index / ROWS.length)) % 2 === 0)
  const entities = TYPES.map(([name, source]): EntityPlan => ({
    name,
    letter: lower(name).charAt(0),
    source,
    note: undefined,
    embeds: [],
    computed: [],
    links: [],
    partners: [],
  }))
  const schema: SchemaPlan = {
    features: drawFeatures(random),
    code: codeOf(random, row, settings),
    statement: STATEMENTS[index % STATEMENTS.length],
    entities,
    joins: [],
    reads: TYPES.flatMap(([type, source]) => readsOf(type, source)),
    mutations: TYPES.map(([type, source]) => mutationOf(type, source)),
  }
  return { kind: 'callers', settings, schema, users: usersOf(random, row, settings.jwt) }
}

function settingsOf(random: Random, row: Row, clientMaxAge: boolean): SettingsPlan {
  return {
    fixture: 'gateway',
    cache: {
      strategy: random.pick(['types', 'entities', 'all']),
      defaultTtlMs: 60_000,
      staleWhileRevalidateMs: 0,
      varyHeaders: row.varyHeaders,
      clientMaxAge,
    },
    dedupe: random.pick(['operation', 'inflight', false]),
    plans: random.chance(0.7),
    grpcForward: row.forward,
    restForward: row.forward,
    restCacheSize: random.pick([0, 100]),
    interceptor: false,
    session: false,
    hasCode: true,
    jwt: false,
    preset: 'development',
    throttleMs: 0,
    guard: undefined,
    ...row.settings,
  }
}

function codeOf(random: Random, { who, forward }: Row, settings: SettingsPlan): readonly CodePlan[] {
  const { preset, jwt, interceptor, cache, fixture } = settings
  const ofSource = (): CodePlan['call'] =>
    // The interceptor is one of REST.
    interceptor || random.chance(0.5)
      ? { source: 'rest', method: 'bees' }
      : { source: 'grpc', method: 'Ants' }
  const plan = (reads: CodePlan['reads'], rest: Partial<CodePlan> = {}): Omit<CodePlan, 'name'> => ({
    reads,
    header: who,
    call: ofSource(),
    isMethod: random.chance(0.3),
    variesBy: undefined,
    isDeclared: true,
    ...rest,
  })
  const isSilent = (headers: readonly string[]): boolean =>
    headers.every((name) => cache?.varyHeaders?.includes(name))
  const secret = plan('header', { header: 'x-secret', isDeclared: false })
  const undeclared =
    preset === 'production'
      ? [
          secret,
          // A statement is believed of all but calls of sources.
          plan('source', { variesBy: [], isDeclared: isSilent(forward) }),
        ]
      : // The cache records what code reads on a server without a gateway.
        fixture === 'plugins'
        ? [secret]
        : []
  return [
    plan('header', { variesBy: [who] }),
    plan('source', { variesBy: forward }),
    plan('source alone', { variesBy: [] }),
    ...(jwt ? [plan('claims', { variesBy: ['authorization'] })] : []),
    ...undeclared,
  ].map((code, place) => ({ ...code, name: `code${place}` }))
}

function readsOf(type: string, source: SourceName): readonly ReadPlan[] {
  const read = { source, type, others: [], triggers: undefined }
  const name = lower(type)
  const one: ReadPlan = { ...read, name, shape: 'one' }
  if (type === 'Fox') {
    const all = { ...read, others: ['Gnu'] }
    return [one, { ...all, name: 'named', shape: 'interface' }, { ...all, name: 'either', shape: 'union' }]
  }
  return source === 'own' ? [one] : [one, { ...read, name: `${name}s`, shape: 'list' }]
}

const mutationOf = (type: string, source: SourceName): MutationPlan => ({
  name: `update${upper(type)}`,
  source,
  type,
  effect: 'update',
  returns: 'entity',
  other: type,
  side: undefined,
  changes: undefined,
  httpMethod: 'POST',
})

/** One, another who differs by the row's header alone, one who shows nothing, and one who differs by something else. */
function usersOf(random: Random, { who }: Row, jwt: boolean): readonly UserHeaders[] {
  const [base = {}, ...others] = drawUsers(random, jwt, who === 'cookie')
  const differs = (name: string) => (user: UserHeaders) =>
    user[name as Header] !== undefined && user[name as Header] !== base[name as Header]
  const another = others.find(differs(who))!
  const rest = others.filter(
    (user) => user !== another && Object.keys(user).length > 0 && !differs('cookie')(user),
  )
  return [base, another, {}, random.pick(rest)]
}
