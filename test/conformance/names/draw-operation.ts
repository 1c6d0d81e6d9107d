import type { Random } from '@vinyasa/test-kit'
import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql'

export interface Operation {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  /** Types of the variables. */
  readonly types: Readonly<Record<string, GraphQLInputType>>
}

/**
 * A random operation in which every field has an alias: answers are the same whatever fields are called. `without`:
 * coordinates of fields that it does not have.
 */
export function drawOperation(
  schema: GraphQLSchema,
  random: Random,
  isMutation: boolean,
  without: ReadonlySet<string> = new Set(),
): Operation {
  const variables: Record<string, unknown> = {}
  const types: Record<string, GraphQLInputType> = {}
  const fragments: string[] = []
  let aliases = 0

  function selection(type: GraphQLNamedType, depth: number): string {
    const parts: string[] = []
    if (isAbstractType(type))
      for (const one of schema.getPossibleTypes(type))
        if (random.chance(0.8)) parts.push(`... on ${one.name} ${selection(one, depth)}`)
    for (const field of 'getFields' in type ? Object.values(type.getFields()) : []) {
      const of = getNamedType(field.type as GraphQLOutputType)
      if (without.has(`${type.name}.${field.name}`)) continue
      if (random.chance(0.4) || (!isLeafType(of) && depth <= 0)) continue
      const args: readonly GraphQLArgument[] = 'args' in field ? field.args : []
      const given = args
        .filter((arg) => isRequiredArgument(arg) || random.chance(0.5))
        .map((arg) => `${arg.name}: ${valueText(arg.type)}`)
      const text = `a${aliases++}: ${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''} ${isLeafType(of) ? '' : selection(of, depth - 1)}`
      if (random.chance(0.15)) {
        parts.push(`...F${fragments.length}`)
        fragments.push(`fragment F${fragments.length} on ${type.name} { ${text} }`)
      } else parts.push(text)
    }
    if (parts.length === 0 || random.chance(0.2)) parts.push('__typename')
    return `{ ${parts.join(' ')} }`
  }

  function valueText(type: GraphQLInputType): string {
    const value = draw(type, 2)
    if (random.chance(0.5)) return literal(type, value)
    const name = `v${Object.keys(variables).length}`
    variables[name] = value
    types[name] = type
    return `$${name}`
  }

  function draw(type: GraphQLInputType, depth: number): unknown {
    if (!isNonNullType(type) && random.chance(0.15)) return null
    const nullable = getNullableType(type) as GraphQLInputType
    if (isListType(nullable))
      return Array.from({ length: random.below(3) }, () =>
        draw(nullable.ofType as GraphQLInputType, depth - 1),
      )
    if (isEnumType(nullable)) return random.pick(nullable.getValues()).name
    if (!isInputObjectType(nullable))
      return nullable.toString() === 'Int' ? 1 + random.below(3) : random.pick(['1', '22', 'x'])
    const fields = Object.values(nullable.getFields())
    const one = nullable.isOneOf ? random.pick(fields) : undefined
    const chosen = fields.filter((field) =>
      one ? field === one : isRequiredInputField(field) || (depth > 0 && random.chance(0.5)),
    )
    return Object.fromEntries(
      chosen.map((field) => {
        const value = draw(field.type, depth - 1)
        return [field.name, one && value === null ? drawSome(field.type) : value]
      }),
    )
  }

  function drawSome(type: GraphQLInputType): unknown {
    for (;;) {
      const value = draw(type, 0)
      if (value !== null) return value
    }
  }

  function literal(type: GraphQLInputType, value: unknown): string {
    const nullable = getNullableType(type) as GraphQLInputType
    if (value === null) return 'null'
    if (isListType(nullable))
      return `[${(value as unknown[]).map((item) => literal(nullable.ofType as GraphQLInputType, item)).join(', ')}]`
    if (isEnumType(nullable)) return String(value)
    if (!isInputObjectType(nullable)) return JSON.stringify(value)
    const fields = nullable.getFields()
    const parts = Object.entries(value as object).map(
      ([name, one]) => `${name}: ${literal(fields[name]?.type as GraphQLInputType, one)}`,
    )
    return `{${parts.join(', ')}}`
  }

  const root = isMutation ? schema.getMutationType() : schema.getQueryType()
  if (!root) throw new Error('The schema has no such root type.')
  const text = selection(root, 2)
  const declared = Object.entries(types).map(([name, type]) => `$${name}: ${String(type)}`)
  const head = `${isMutation ? 'mutation' : 'query'} Q${declared.length > 0 ? `(${declared.join(', ')})` : ''}`
  return { query: [`${head} ${text}`, ...fragments].join(' '), variables, types }
}
