import type { Random } from '@vinyasa/test-kit'
import {
  type CodePlan,
  type Operation,
  type ReadPlan,
  type SettingsPlan,
  type StatementPlan,
  USER_HEADERS,
} from './plan.ts'
import { upper } from './shapes.ts'

const MOST = 5

/** Fields that code of the config answers, in servers that run here. */
export function drawCode(
  random: Random,
  reads: readonly ReadPlan[],
  settings: SettingsPlan,
): readonly CodePlan[] {
  if (!settings.hasCode) return []
  const callable = reads.filter(({ source, shape }) => source !== 'own' && shape !== 'one')
  return Array.from({ length: 2 + random.below(MOST - 1) }, (_, index): CodePlan => {
    const call = random.pick(callable)
    const source = call.source === 'grpc' ? 'grpc' : 'rest'
    const forwarded = (source === 'grpc' ? settings.grpcForward : settings.restForward) ?? ['authorization']
    const header = random.pick(
      random.chance(0.5) && forwarded.length > 0 ? (forwarded as CodePlan['header'][]) : USER_HEADERS,
    )
    const kinds = [
      'header',
      'header',
      'source',
      'source',
      'source alone',
      ...(settings.jwt ? (['claims', 'claims', 'claims'] as const) : []),
    ] as const
    const kind = random.pick(kinds)
    const read = { header: [header], claims: ['authorization'], source: forwarded, 'source alone': [] }[kind]
    return {
      name: `code${index}`,
      reads: kind,
      header,
      call: { source, method: source === 'grpc' ? upper(call.name) : call.name },
      isMethod: random.chance(0.25),
      ...stated(random, kind, read, settings),
    }
  })
}

/** Headers that the cache of a place always tells apart. */
function defaultVariesBy({ grpcForward, restForward, cache }: SettingsPlan): ReadonlySet<string> {
  return new Set([
    ...(grpcForward ?? ['authorization']),
    ...restForward,
    'authorization',
    ...(cache?.varyHeaders ?? []),
  ])
}

/** What the configuration says of it: all that it reads, nothing, or, in production, less than it reads. */
function stated(
  random: Random,
  reads: CodePlan['reads'],
  read: readonly string[],
  settings: SettingsPlan,
): Pick<CodePlan, 'variesBy' | 'isDeclared'> {
  const { preset, session, interceptor } = settings
  const byDefault = defaultVariesBy(settings)
  // `session` gives the client's identity for all fields, here by `x-secret`: what it leaves out has to be declared.
  const isOfSession = (name: string): boolean =>
    name === 'x-secret' || (name !== 'cookie' && byDefault.has(name))
  if ((session || interceptor) && !read.every(isOfSession)) return { variesBy: read, isDeclared: true }
  const isDefault = read.every((name) => byDefault.has(name))
  if (preset === 'production' && random.chance(0.6))
    // A statement is believed of all but calls of sources.
    return reads === 'source' && random.chance(0.5)
      ? { variesBy: [], isDeclared: read.length === 0 }
      : { variesBy: undefined, isDeclared: isDefault }
  // What states nothing is shared with nobody.
  return isDefault && random.chance(0.2)
    ? { variesBy: undefined, isDeclared: true }
    : { variesBy: read, isDeclared: true }
}

/** As it stands in a query. */
export const asked = ({ name, isMethod }: CodePlan): string => `${name}${isMethod ? ' { text }' : ''}`

/** A query on one or two fields of code, among others. */
export function withCode(
  random: Random,
  code: readonly CodePlan[],
  { head, selection, variables }: Operation,
): Operation {
  const fields = [
    ...new Set(random.chance(0.5) ? [random.pick(code)] : [random.pick(code), random.pick(code)]),
  ].map(asked)
  const isAlone = random.chance(0.6)
  return isAlone
    ? { head: '', selection: `{ ${fields.join(' ')} }`, variables: undefined }
    : { head, selection: selection.replace('{', `{ ${fields.join(' ')}`), variables }
}

/** What is stated of lifetime or scope somewhere, in some worlds. */
export function drawStatement(
  random: Random,
  reads: readonly ReadPlan[],
  { cache, fixture }: SettingsPlan,
): StatementPlan | undefined {
  if (!cache || fixture === 'mortal' || !random.chance(0.3)) return undefined
  const own = reads.filter(({ source }) => source === 'own')
  const some = random.pick(reads)
  // What is of sources may be stated by its coordinate alone; directives stand in definitions by hand.
  const isByHand = own.length > 0 && random.chance(0.6)
  const place = isByHand
    ? random.pick([
        'Query',
        'Query',
        'Named',
        'Named.text',
        'Either',
        some.source === 'own' ? some.type : 'Query',
      ])
    : random.pick(['Query', `Query.${some.name}`, some.type, `${some.type}.text`])
  if (!isByHand) return { place, word: 'never', isByHand }
  return random.pick<StatementPlan>([
    { place, word: 'private', isByHand },
    { place, word: 'private', isByHand },
    { place, word: 'never', isByHand },
    { place, word: 'never', isByHand: false },
  ])
}
