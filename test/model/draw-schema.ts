import type { Random } from '@vinyasa/test-kit'
import {
  EFFECTS,
  type EntityPlan,
  type Features,
  type JoinPlan,
  type MutationPlan,
  READ_SHAPES,
  type ReadPlan,
  RETURNS,
  type SchemaPlan,
  type SettingsPlan,
  type SourceName,
} from './plan.ts'
import { drawCode, drawStatement } from './draw-code.ts'
import { lower, upper } from './shapes.ts'

const NAMES = ['Ant', 'Bee', 'Cat', 'Dog', 'Elk'] as const
const OWN_NAMES = ['Fox', 'Gnu'] as const
/** Points to nobody, so that its mutations name it alone; the first type points to it. */
const LEAF = 'Hen'

/** Types of both sources, what is read of them, and what changes them. */
export function drawSchema(
  random: Random,
  features: Features,
  isByEntity: boolean,
  hasOwn: boolean,
  settings: SettingsPlan,
): SchemaPlan {
  const ofSources = NAMES.slice(0, 2 + random.below(3))
  const own = hasOwn && random.chance(0.5) ? OWN_NAMES : []
  const leaf = random.chance(0.85) ? [LEAF] : []
  const names: readonly string[] = [...ofSources, ...own, ...leaf]
  const sources = names.map((_, index): SourceName => {
    if (names[index] === LEAF) return 'grpc'
    if (index >= ofSources.length) return 'own'
    return index === 0 ? 'grpc' : index === 1 ? 'rest' : random.pick(['grpc', 'rest'])
  })
  const entities = names.map((name, index): EntityPlan => {
    const others = names.filter((other) => other !== name)
    const beside = others.filter((other) => sources[names.indexOf(other)] === sources[index])
    const source = sources[index]!
    const hasNote = random.chance(features.notes)
    const note = hasNote ? (features.notes < 0.9 ? `${upper(source)}Note` : `${name}Note`) : undefined
    return {
      name,
      letter: lower(name).charAt(0),
      source,
      note,
      embeds:
        sources[index] !== 'own' && name !== LEAF && beside.length > 0 && random.chance(features.embeds)
          ? [{ field: 'within', type: random.pick(beside), many: random.chance(0.4) }]
          : [],
      computed:
        name !== LEAF && random.chance(features.computed)
          ? [{ field: 'reckoned', from: random.pick(others), isNote: note !== undefined && index % 2 === 0 }]
          : [],
      links:
        sources[index] === 'own' || name === LEAF
          ? []
          : ofSources
              .filter((to) => to !== name && random.chance(features.links))
              .map((to) => ({ field: `${lower(to)}Id`, to })),
      partners: index === 0 && leaf.length > 0 ? [name, LEAF] : [],
    }
  })
  const reads = drawReads(random, features, entities)
  return {
    features,
    code: drawCode(random, reads, settings),
    statement: drawStatement(random, reads, settings),
    entities,
    joins: drawJoins(random, entities),
    reads,
    mutations: drawMutations(random, features, entities, isByEntity),
  }
}

function drawJoins(random: Random, entities: readonly EntityPlan[]): JoinPlan[] {
  return entities.flatMap(({ name, links }) =>
    links.flatMap(({ field, to }): JoinPlan[] => {
      const there: JoinPlan = {
        type: name,
        field: lower(to),
        target: to,
        link: field,
        kind: random.pick(['one', 'batch', 'batch']),
      }
      const back: JoinPlan = {
        type: to,
        field: `${lower(name)}s`,
        target: name,
        link: field,
        kind: 'many',
      }
      return random.chance(0.5) ? [there] : random.chance(0.5) ? [back] : [there, back]
    }),
  )
}

function drawReads(random: Random, features: Features, entities: readonly EntityPlan[]): ReadPlan[] {
  const reads: ReadPlan[] = []
  for (const { name: type, source } of entities) {
    const possible = READ_SHAPES.filter(
      (shape) =>
        shape !== 'union' &&
        shape !== 'interface' &&
        shape !== 'one' &&
        (shape !== 'json' || source !== 'own'),
    )
    const shapes = possible.filter(() => random.chance(0.4))
    for (const shape of ['one' as const, ...(shapes.length > 0 ? shapes : [random.pick(possible)])]) {
      const name = shape === 'one' ? lower(type) : `${lower(type)}${shape === 'list' ? 's' : titled(shape)}`
      const mayHave = source !== 'own' && ownTrigger(shape)
      const triggers = mayHave && random.chance(features.triggers) ? [`${type}.*`] : undefined
      reads.push({ name, source, type, shape, others: [], triggers })
    }
  }
  const byGrpc = entities.filter(({ source }) => source === 'grpc').map(({ name }) => name)
  if (byGrpc.length > 1) {
    const [type = '', ...others] = byGrpc
    reads.push({ name: 'search', source: 'grpc', type, shape: 'union', others, triggers: undefined })
  }
  const [first = '', ...byHand] = entities.filter(({ source }) => source === 'own').map(({ name }) => name)
  if (byHand.length > 0) {
    const own = { source: 'own', type: first, others: byHand, triggers: undefined } as const
    reads.push({ ...own, name: 'named', shape: 'interface' }, { ...own, name: 'either', shape: 'union' })
  }
  return reads
}

/** Whether the field's own data is of its type alone, so that triggers may say so. */
function ownTrigger(shape: ReadPlan['shape']): boolean {
  return shape !== 'aggregate' && shape !== 'count' && shape !== 'text' && shape !== 'json'
}

const VERBS = ['update', 'ban', 'save', 'reset', 'move', 'delete', 'set', 'create', 'refresh'] as const

function drawMutations(
  random: Random,
  { sides, statements }: Features,
  entities: readonly EntityPlan[],
  isByEntity: boolean,
): readonly MutationPlan[] {
  const mutations: MutationPlan[] = []
  for (const { name: type, source } of entities) {
    const others = entities.filter(({ name }) => name !== type)
    const sameSource = others.filter((other) => other.source === source)
    for (let count = (type === LEAF ? 4 : 2) + random.below(3); count > 0; count--) {
      // One of those that others point to is always changed by name alone.
      const namesOne = isByEntity && type === LEAF && count === 4
      const effect = namesOne || (isByEntity && random.chance(0.4)) ? 'update' : random.pick(EFFECTS)
      const possible = RETURNS.filter(
        (returns) =>
          (returns !== 'other' || sameSource.length > 0) &&
          (returns !== 'json' || source === 'rest') &&
          // By id and type alone nobody can know of more than the mutation returns.
          (!isByEntity || !BY_RETURN.has(returns) || effect === 'update' || effect === 'remove'),
      )
      // The strategy is about those that say which entity they changed.
      const returns =
        isByEntity && possible.includes('entity') && (namesOne || random.chance(0.5))
          ? 'entity'
          : random.pick(possible)
      const side = !namesOne && random.chance(sides) ? random.pick(others).name : undefined
      const verb = random.pick(VERBS)
      // A name says little: now and then it is that of another type.
      const noun = random.chance(0.25) ? random.pick(others).name : type
      mutations.push({
        name: random.chance(0.2)
          ? `${lower(noun)}s${titled(verb)}${mutations.length}`
          : `${verb}${noun}${mutations.length}`,
        source,
        type,
        effect,
        returns,
        other: sameSource.length > 0 ? random.pick(sameSource).name : type,
        side,
        changes: statementOf(random, statements, type, side, returns),
        httpMethod: random.pick(['POST', 'PUT', 'PATCH', 'DELETE']),
      })
    }
  }
  return mutations
}

const BY_RETURN: ReadonlySet<string> = new Set(['entity', 'null', 'payload'])
const SAYS_NOTHING: ReadonlySet<string> = new Set(['ok', 'boolean', 'id', 'empty', 'json'])

/** Needed where what changes is not in what is returned; allowed everywhere. */
function statementOf(
  random: Random,
  statements: number,
  type: string,
  side: string | undefined,
  returns: MutationPlan['returns'],
): readonly string[] | undefined {
  const all = side === undefined ? [type] : [type, side]
  if (SAYS_NOTHING.has(returns)) return random.chance(statements) ? all : undefined
  if (returns === 'other') return all
  return side !== undefined ? [side] : random.chance(0.1) ? [] : undefined
}

function titled(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
