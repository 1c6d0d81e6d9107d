import {
  getDirectiveValues,
  isInputObjectType,
  type ASTNode,
  type GraphQLDirective,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import { definitionsIn } from '../coordinates.ts'
import type { CostRule, ListSizeConfig } from './cost-types.ts'
import type { AnyField } from './cost-model.ts'

const LIST_SIZE = `directive @listSize(
  assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true
) on FIELD_DEFINITION`

/**
 * Definitions of the directives of cost by their names, for SDL. The specification writes weights as text, other servers as
 * numbers: as the SDL writes them.
 */
export function costDirectives(sdl: string): Readonly<Record<string, string>> {
  const type = /@cost\s*\(\s*weight\s*:\s*"/.test(sdl) ? 'String' : 'Float'
  return {
    cost: `directive @cost(weight: ${type}!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR`,
    listSize: LIST_SIZE,
  }
}

/** Writes what the directives say as `extensions.cost` onto the types and fields of a schema made of SDL. */
export function noteCostDirectives(schema: GraphQLSchema): void {
  const cost = schema.getDirective('cost')
  const listSize = schema.getDirective('listSize')
  if (!cost && !listSize) return
  const weightIn = (definition: Noted): number | undefined => {
    const weight: unknown = valuesOf(cost, definition)?.['weight']
    return weight === undefined ? undefined : Number(weight)
  }
  for (const [, definition] of definitionsIn(schema)) {
    if (isInputObjectType(definition))
      for (const field of Object.values(definition.getFields())) note(field, { weight: weightIn(field) })
    const weights = ('args' in definition ? definition.args : []).flatMap((argument) => {
      const weight = weightIn(argument)
      return weight === undefined ? [] : [[argument.name, weight] as const]
    })
    note(definition, {
      weight: weightIn(definition),
      arguments: weights.length > 0 ? Object.fromEntries(weights) : undefined,
      listSize: valuesOf(listSize, definition) as ListSizeConfig | undefined,
    })
  }
}

interface Noted {
  readonly astNode?: ASTNode | null | undefined
  readonly extensionASTNodes?: readonly ASTNode[] | undefined
}

function valuesOf(
  directive: GraphQLDirective | undefined | null,
  { astNode, extensionASTNodes = [] }: Noted,
): Record<string, unknown> | undefined {
  if (!directive) return undefined
  for (const node of [astNode, ...extensionASTNodes]) {
    const values = node && getDirectiveValues(directive, node as never)
    if (values) return values
  }
  return undefined
}

function note(definition: GraphQLNamedType | AnyField | GraphQLInputField, rule: CostRule): void {
  if (Object.values(rule).every((value) => value === undefined)) return
  definition.extensions = { ...definition.extensions, cost: rule }
}
