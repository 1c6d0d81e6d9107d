import type { Random } from '@vinyasa/test-kit'
import {
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isUnionType,
} from 'graphql'
import type { MutationPlan, Operation, ReadPlan, SchemaPlan } from './plan.ts'
import { lower, upper } from './shapes.ts'

const DEEPEST = 5

/** A random query on one to three root fields; `only` says of which sources. */
export function drawQuery(
  random: Random,
  schema: GraphQLSchema,
  plan: SchemaPlan,
  only: (read: ReadPlan) => boolean = () => true,
): Operation {
  const reads = plan.reads.filter(only)
  const fields = schema.getQueryType()!.getFields()
  const count = random.pick([1, 1, 1, 2, 3])
  const chosen = Array.from({ length: count }, () => fields[random.pick(reads).name]!)
  const parts = chosen.map((field, index) =>
    drawField(random, schema, plan, field, 1, count > 1 ? `r${index}` : undefined),
  )
  const selection = `{ ${parts.join(' ')} }`
  const literal = /\(id: "(\w+)"\)/.exec(selection)
  const argument = chosen.find(({ args }) => args.length > 0)?.args[0]
  if (!literal || !argument || random.chance(0.6)) return { head: '', selection, variables: undefined }
  // One type stands for the arguments of both sources: what is given is not null.
  return {
    head: `($v: ${String(getNamedType(argument.type))}!)`,
    selection: selection.replace(literal[0], '(id: $v)'),
    variables: { v: literal[1] },
  }
}

/** What an entity, asked for by its id, points to: one of two types, whose ids and other texts may stand under one name. */
export function drawPointing(random: Random, schema: GraphQLSchema, plan: SchemaPlan): Operation | undefined {
  const pointing = plan.entities.find(({ partners }) => partners.length > 0)
  const type = pointing && schema.getType(pointing.name)
  const partner = isObjectType(type) ? type.getFields()['partner'] : undefined
  if (!pointing || !partner) return undefined
  const id = `${pointing.letter}${random.pick([1, 3])}`
  const selection = `{ ${lower(pointing.name)}(id: "${id}") { id partner${selectionOf(random, schema, plan, partner, 2)} } }`
  return { head: '', selection, variables: undefined }
}

/** Whether a mutation says by its answer alone that one entity to which others point has changed. */
const namesOnePartner =
  ({ entities }: SchemaPlan) =>
  ({ type, returns, effect, side, changes }: MutationPlan): boolean =>
    entities.some(({ name, partners }) => name !== type && partners.includes(type)) &&
    returns === 'entity' &&
    effect === 'update' &&
    side === undefined &&
    changes === undefined

/** A random mutation; hardly two write the same. `isByEntity`: more of those that name one entity. */
export function drawMutation(
  random: Random,
  schema: GraphQLSchema,
  plan: SchemaPlan,
  isByEntity: boolean,
): string {
  const naming = isByEntity && random.chance(0.35) ? plan.mutations.filter(namesOnePartner(plan)) : []
  const isNaming = naming.length > 0
  const mutation = random.pick(isNaming ? naming : plan.mutations)
  const field = schema.getMutationType()!.getFields()[mutation.name]!
  const letter = plan.entities.find(({ name }) => name === mutation.type)!.letter
  const id = (): string => `"${letter}${1 + random.below(isNaming ? 2 : 4)}"`
  const drawn = selectionOf(random, schema, plan, field, 1)
  // Most clients ask which entity it was.
  const selection =
    mutation.returns === 'entity' && random.chance(isNaming ? 0.9 : 0.6)
      ? drawn.replace(' {', ' { id')
      : drawn
  return `mutation { ${mutation.name}(id: ${id()}, other: ${id()}, text: "v${random.below(1_000_000)}")${selection} }`
}

function drawField(
  random: Random,
  schema: GraphQLSchema,
  plan: SchemaPlan,
  field: GraphQLField<unknown, unknown>,
  depth: number,
  alias?: string,
): string {
  const read = plan.reads.find(({ name }) => name === field.name)
  const letter = plan.entities.find(({ name }) => name === read?.type)?.letter
  const args = depth === 1 && field.args.length > 0 ? `(id: "${letter}${1 + random.below(4)}")` : ''
  const named = alias ?? (random.chance(0.15) ? `as${upper(field.name)}` : undefined)
  return `${named ? `${named}: ` : ''}${field.name}${args}${selectionOf(random, schema, plan, field, depth)}`
}

function selectionOf(
  random: Random,
  schema: GraphQLSchema,
  plan: SchemaPlan,
  field: GraphQLField<unknown, unknown>,
  depth: number,
): string {
  const type = getNamedType(field.type)
  if (isLeafType(type)) return ''
  if (isObjectType(type)) return ` { ${selectOf(random, schema, plan, type, depth).join(' ')} }`
  if (isUnionType(type) || isInterfaceType(type)) {
    const members = schema.getPossibleTypes(type)
    const typeOfK = String(members[0]?.getFields()['id']?.type)
    const first = random.pick([0, 0, 1, 2])
    const parts = members.map((member, index) => {
      // Ids and what looks like one, under one name: the id of one member, something else of the next.
      const likeIds = Object.values(member.getFields()).filter(({ type: of }) => String(of) === typeOfK)
      const aliased =
        random.chance(0.8) && likeIds.length > 0
          ? [`k: ${likeIds[(first + index) % likeIds.length]!.name}`]
          : selectOf(random, schema, plan, member, depth).map(
              (part, index) => `${member.name}${index}: ${part.replace(/^\w+: /, '')}`,
            )
      return `... on ${member.name} { ${aliased.join(' ')} }`
    })
    return ` { ${parts.join(' ')} }`
  }
  return ''
}

function selectOf(
  random: Random,
  schema: GraphQLSchema,
  plan: SchemaPlan,
  type: GraphQLObjectType,
  depth: number,
): string[] {
  const fields = Object.values(type.getFields())
  const fitting = fields.filter((field) => depth < DEEPEST || isLeafType(getNamedType(field.type)))
  const chosen = fitting.filter(({ type: of }) =>
    random.chance(isUnionType(of) ? 0.6 : 2.2 / (fitting.length + 1)),
  )
  const further = fitting.filter(({ type: of }) => !isLeafType(getNamedType(of)))
  const leads = chosen.some((field) => further.includes(field))
  if (!leads && further.length > 0 && random.chance(plan.features.below)) chosen.push(random.pick(further))
  const some = chosen.length > 0 ? chosen : fitting.length > 0 ? [random.pick(fitting)] : []
  return some.length > 0
    ? some.map((field) => drawField(random, schema, plan, field, depth + 1))
    : ['__typename']
}
