import { assert, nat, property } from 'fast-check'
import {
  buildSchema,
  executeSync,
  getNamedType,
  isAbstractType,
  isLeafType,
  parse,
  validate,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql'
import { expect, it } from 'vitest'
import type { CostConfig, CostRule } from '../src/cost/cost-types.ts'
import { compileCost } from '../src/cost/compile-cost.ts'
import { createCostModel } from '../src/cost/cost-model.ts'
import { levelsOf, referenceCost, ruleOf, sizeOf, weightOf } from './support/cost-reference.ts'

/** A number below a bound. */
type Draw = (below: number) => number

/** A generator of its own, so that a seed says all. */
function drawFrom(seed: number): Draw {
  let state = seed
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c_1b_3c_6d) + 0x9e_37_79_b9) >>> 0
    return (state >>> 8) % Math.max(1, below)
  }
}

const OBJECTS = ['A', 'B', 'C']
const TARGETS = [...OBJECTS, 'I', 'U', 'Int']
const ARGUMENTS = '(first: Int = 2, last: Int, ids: [Int!], page: Page)'
/** Names of fields, with every type that they may have: of one name in all types, as it is in the interface. */
const FIELDS = TARGETS.flatMap((target) =>
  ['', 's', 'ss'].map((suffix) => ({
    name: `${target.toLowerCase()}${suffix}`,
    type: listOf(target, suffix.length),
  })),
)

function listOf(type: string, levels: number): string {
  return levels === 0 ? type : `[${listOf(type, levels - 1)}!]`
}

function drawSchema(draw: Draw): GraphQLSchema {
  const fields = FIELDS.filter(() => draw(3) > 0).map(({ name, type }) => `${name}${ARGUMENTS}: ${type}`)
  const body = `{ leaf: Int ${fields.join(' ')} }`
  const isOfInterface = OBJECTS.map((_, index) => index === 0 || draw(2) === 0)
  return buildSchema(`
    input Page { first: Int = 3 size: Int }
    interface I ${body}
    union U = ${OBJECTS.slice(draw(3)).join(' | ')}
    ${OBJECTS.map((name, index) => `type ${name} ${isOfInterface[index] ? 'implements I' : ''} ${body}`).join(' ')}
    type Query ${body}
  `)
}

function drawConfig(draw: Draw, schema: GraphQLSchema): CostConfig {
  const fields: Record<string, CostRule> = {}
  for (const member of ['first', 'size']) if (draw(2)) fields[`Page.${member}`] = { weight: draw(3) }
  for (const type of ['Query', 'I', ...OBJECTS]) {
    if (draw(4) === 0) fields[type] = { weight: draw(4) }
    for (const field of Object.values((schema.getType(type) as GraphQLObjectType).getFields())) {
      if (draw(2) === 0) continue
      const below = getNamedType(field.type)
      const names = 'getFields' in below ? Object.keys(below.getFields()) : []
      const slicing = ['first', 'last', 'ids', 'page.first', 'page.size'].filter(() => draw(2) === 0)
      const sized = names.filter(() => draw(4) === 0)
      fields[`${type}.${field.name}`] = {
        ...(draw(3) === 0 && { weight: draw(4) }),
        ...(field.args.length > 0 && draw(3) === 0 && { arguments: { first: draw(3), ids: draw(3) } }),
        ...(field.args.length > 0 &&
          draw(3) > 0 && {
            listSize: {
              requireOneSlicingArgument: false,
              // What nobody knows is refused.
              ...((slicing.length > 0 || draw(2) === 0) && { assumedSize: draw(4) }),
              ...(slicing.length > 0 && { slicingArguments: slicing }),
              ...(sized.length > 0 && draw(2) === 0 && { sizedFields: sized }),
            },
          }),
      }
    }
  }
  return { listSize: 1 + draw(3), fields }
}

interface Operation {
  readonly text: string
  readonly variables: Record<string, unknown>
}

function drawOperation(draw: Draw, schema: GraphQLSchema): Operation {
  const variables: Record<string, unknown> = {}
  const defined: string[] = []
  const fragments: string[] = []
  let aliases = 0
  let left = 14

  /** Of each type that an argument may have: a literal, or a variable with it, without it, with a default or null. */
  function value(type: 'Int' | '[Int!]' | 'Page'): string {
    const own = draw(5) - 1
    const plain: unknown =
      type === 'Int'
        ? own
        : type === 'Page'
          ? draw(2)
            ? { first: own }
            : { size: own }
          : Array.from({ length: draw(4) }, () => 1)
    const literal = JSON.stringify(plain).replaceAll('"', '')
    const kind = draw(6)
    if (kind < 2) return literal
    if (kind === 2) return 'null'
    const name = `v${defined.length}`
    defined.push(`$${name}: ${type}${draw(2) ? ` = ${literal}` : ''}`)
    if (kind === 3) variables[name] = plain
    if (kind === 4) variables[name] = null
    return `$${name}`
  }

  function args(): string {
    const given = [
      ...(draw(2) ? [`first: ${value('Int')}`] : []),
      ...(draw(3) ? [] : [`last: ${value('Int')}`]),
      ...(draw(3) ? [] : [`ids: ${value('[Int!]')}`]),
      ...(draw(3) ? [] : [`page: ${draw(3) ? value('Page') : `{ first: ${value('Int')} }`}`]),
    ]
    return given.length > 0 ? `(${given.join(', ')})` : ''
  }

  function skip(): string {
    const kind = draw(8)
    if (kind === 0) return ' @skip(if: true)'
    if (kind === 1) return ' @include(if: true)'
    if (kind > 2) return ''
    const name = `v${defined.length}`
    defined.push(`$${name}: Boolean = ${draw(2) === 0}`)
    return ` @include(if: $${name})`
  }

  function selections(typeName: string, depth: number): string {
    const type = schema.getType(typeName)
    const parts = ['__typename']
    for (let count = 1 + draw(3); count > 0 && left > 0; count--) {
      left--
      const kind = draw(5)
      if (kind === 0 || !type || !('getFields' in type)) {
        const on = isAbstractType(type)
          ? ['A', 'B', 'C'].filter((name) => schema.isSubType(type, schema.getType(name) as never))
          : [typeName]
        const condition = on[draw(on.length)] ?? typeName
        if (draw(2)) parts.push(`... on ${condition}${skip()} { ${selections(condition, depth)} }`)
        else {
          fragments.push(`fragment F${fragments.length} on ${condition} { ${selections(condition, depth)} }`)
          // A second time, too: it counts once.
          for (let times = 1 + draw(2); times > 0; times--) parts.push(`...F${fragments.length - 1}`)
        }
        continue
      }
      const fields = Object.values<GraphQLField<unknown, unknown>>(type.getFields() as never).filter(
        (field) => depth < 3 || isLeafType(getNamedType(field.type)),
      )
      const field = fields[draw(fields.length)]
      if (!field) continue
      const named = getNamedType(field.type)
      const call = `a${aliases++}: ${field.name}${field.args.length > 0 ? args() : ''}`
      const body = isLeafType(named) ? '' : ` { ${selections(named.name, depth + 1)} }`
      parts.push(`${call}${skip()}${body}`)
      // The same again, merged with it.
      if (body && draw(4) === 0) parts.push(`${call} { ${selections(named.name, depth + 1)} }`)
    }
    return parts.join(' ')
  }

  const body = selections('Query', 0)
  const head = defined.length > 0 ? `(${defined.join(', ')})` : ''
  return { text: `query${head} { ${body} } ${fragments.join(' ')}`, variables }
}

/** What a server gives that fills its lists up to what is assumed, counted as it is given. */
function costOfAnswer(
  draw: Draw,
  { schema, text, variables, config }: Operation & { schema: GraphQLSchema; config: CostConfig },
): number {
  let total = 0
  const fallback = config.listSize ?? 10
  const counting: GraphQLFieldResolver<any, unknown> = (
    parent,
    args,
    _,
    { parentType, fieldName, fieldNodes },
  ) => {
    const field = parentType.getFields()[fieldName]!
    const rule = ruleOf(config, parentType, field)
    for (const { name } of fieldNodes[0]!.arguments ?? []) total += rule.arguments?.[name.value] ?? 0
    const size = sizeOf(rule, args, fallback)
    const sized = rule.listSize?.sizedFields
    const named = getNamedType(field.type)
    const types = isAbstractType(named) ? schema.getPossibleTypes(named) : [named]
    const one = (): unknown => {
      const { name } = types[draw(types.length)]!
      total += weightOf(config, rule, named.name, isLeafType(named) ? undefined : name)
      return isLeafType(named)
        ? 1
        : { __typename: name, sizes: Object.fromEntries((sized ?? []).map((child) => [child, size])) }
    }
    const list = (level: number, length: number): unknown =>
      level === 0
        ? one()
        : Array.from({ length: draw(4) === 0 ? draw(length + 1) : length }, () => list(level - 1, fallback))
    return list(
      levelsOf(field.type),
      parent?.sizes?.[fieldName] ?? (sized || !rule.listSize ? fallback : size),
    )
  }
  const { errors } = executeSync({
    schema,
    document: parse(text),
    variableValues: variables,
    fieldResolver: counting,
    rootValue: {},
  })
  expect(errors).toBeUndefined()
  return total
}

it('is what a slow reference says, and no answer within the assumed sizes costs more', () => {
  let dear = 0
  assert(
    property(nat(), (seed) => {
      const draw = drawFrom(seed)
      const schema = drawSchema(draw)
      const config = drawConfig(draw, schema)
      const operation = drawOperation(draw, schema)
      const document = parse(operation.text)
      // A fragment may use a variable as the operation does not allow; a merged field may differ.
      if (validate(schema, document).length > 0) return
      const model = createCostModel(config)
      const cost = compileCost(schema, document, undefined, model)(operation.variables)
      const { text, variables } = operation
      const expected = referenceCost(schema, document, variables, config)
      expect({ text, cost }).toEqual({ text, cost: expected })
      if (cost > 2000) return
      const actual = costOfAnswer(draw, { schema, config, ...operation })
      expect({ text, actual, isWithin: actual <= cost }).toMatchObject({ isWithin: true })
      if (actual > 0) dear++
    }),
    { numRuns: 150 },
  )
  // Some sixty.
  expect(dear).toBeGreaterThan(15)
})
