import {
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLSchema,
} from 'graphql'
import type { CostConfig, CostRule, ListSizeConfig } from './cost-types.ts'
import { ConfigError, mistakeAt } from '../errors.ts'
import { definitionsIn, fieldAt, inputFieldAt, suggestFor } from '../coordinates.ts'
import { type AnyField, listDepth } from './cost-model.ts'

/** Throws {@link ConfigError} for a rule on what the schema does not have, in the config or in a directive. */
export function checkCost(schema: GraphQLSchema, { fields = {} }: CostConfig = {}): void {
  for (const [coordinate, rule] of Object.entries(fields)) {
    const mistake: Mistake = (text, ...below) => mistakeAt(['cost', 'fields', coordinate, ...below], text)
    const field = fieldAt(schema, coordinate)
    const input = field ? undefined : inputFieldAt(schema, coordinate)
    if (coordinate.includes('.') ? !(field ?? input) : !schema.getType(coordinate))
      throw mistake(
        `the schema has no such field or type${suggestFor(schema, coordinate) || '; write "Type.field" or "Type", for example "Query.users"'}`,
      )
    if (field) checkRule(mistake, field, rule)
    else if (rule.listSize ?? rule.arguments)
      throw mistake(
        `arguments and listSize apply only to output fields ("Type.field"); set only a weight for ${input ? 'an input field' : 'a type'}`,
      )
  }
  for (const [coordinate, definition] of definitionsIn(schema)) {
    if (isInputObjectType(definition))
      for (const { name, extensions } of Object.values(definition.getFields()))
        checkWeights(
          inDirective(`@cost of ${coordinate}.${name}`),
          extensions['cost'] as CostRule | undefined,
        )
    const rule = definition.extensions['cost'] as CostRule | undefined
    if (rule && 'args' in definition)
      checkRule(inDirective(`@cost or @listSize of ${coordinate}`), definition, rule)
  }
}

/** What is wrong with a rule, or with what stands at a path in it. */
type Mistake = (text: string, ...below: readonly PropertyKey[]) => ConfigError

function inDirective(place: string): Mistake {
  return (text, ...below) => {
    const names = below.filter((part) => typeof part === 'string')
    return new ConfigError(`${[place, ...names].join('.')}: ${text}`)
  }
}

function checkRule(mistake: Mistake, field: AnyField, rule: CostRule): void {
  const { arguments: weights = {}, listSize = {} } = rule
  checkWeights(mistake, rule)
  for (const name of Object.keys(weights)) expectArgument(mistake, field, name, ['arguments', name])
  for (const [index, name] of (listSize.slicingArguments ?? []).entries())
    expectArgument(mistake, field, name, ['listSize', 'slicingArguments', index])
  const type = getNamedType(field.type)
  const below = isObjectType(type) || isInterfaceType(type) ? type.getFields() : {}
  if (countsNothing(field, listSize)) {
    const lists = Object.values(below).filter((one) => listDepth(one.type) > 0)
    const fix =
      lists.length > 0
        ? `set sizedFields to the fields of ${type.name} that contain the items, for example [${lists.map(({ name }) => name).join(', ')}]`
        : 'remove listSize'
    throw mistake(
      `the field returns one ${type.name} instead of a list, so listSize has no effect; ${fix}`,
      'listSize',
    )
  }
  for (const [index, name] of (listSize.sizedFields ?? []).entries())
    if (!Object.hasOwn(below, name))
      throw mistake(`${type.name} has no field ${name}`, 'listSize', 'sizedFields', index)
}

/** A size of what is no list, and of nothing that is in it. */
function countsNothing(
  field: AnyField,
  { slicingArguments, assumedSize, sizedFields }: ListSizeConfig,
): boolean {
  const isSized = (slicingArguments?.length ?? 0) > 0 || typeof assumedSize === 'number'
  const isObject = isCompositeType(getNamedType(field.type))
  return isSized && isObject && (sizedFields?.length ?? 0) === 0 && listDepth(field.type) === 0
}

function checkWeights(mistake: Mistake, { weight, arguments: weights = {} }: CostRule = {}): void {
  for (const value of [weight, ...Object.values(weights)]) {
    if (value !== undefined && !(value >= 0))
      throw mistake(`expected a weight of 0 or more, received ${value}`)
  }
}

function expectArgument(mistake: Mistake, field: AnyField, name: string, path: readonly PropertyKey[]): void {
  const [first, ...members] = name.split('.')
  let found: GraphQLArgument | GraphQLInputField | undefined = field.args.find((one) => one.name === first)
  for (const member of members) {
    const type = found && getNamedType(found.type)
    found = isInputObjectType(type) ? type.getFields()[member] : undefined
  }
  if (found) return
  const known = field.args.map((one) => one.name).join(', ') || 'none'
  throw mistake(`the field has no argument ${name} (available arguments: ${known})`, ...path)
}
