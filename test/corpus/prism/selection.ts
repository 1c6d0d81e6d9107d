import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql'

/** Selects all fields down to a depth; members of unions and interfaces under names of their own, as their types may differ. */
export function selectionOf(schema: GraphQLSchema, type: GraphQLOutputType, depth = 3): string {
  const named = getNamedType(type)
  if (!isCompositeType(named)) return ''
  if (!isAbstractType(named)) return `{ ${fieldsOf(schema, named, depth, '')} }`
  const members = schema
    .getPossibleTypes(named)
    .map((member, index) => `... on ${member.name} { ${fieldsOf(schema, member, depth - 1, `v${index}_`)} }`)
  return `{ __typename ${members.join(' ')} }`
}

function fieldsOf(schema: GraphQLSchema, type: GraphQLObjectType, depth: number, prefix: string): string {
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const inner = isCompositeType(getNamedType(field.type))
    if (inner && depth <= 0) return []
    const name = prefix === '' ? field.name : `${prefix}${field.name}: ${field.name}`
    return [`${name} ${inner ? selectionOf(schema, field.type, depth - 1) : ''}`]
  })
  return ['__typename', ...fields].join(' ')
}
