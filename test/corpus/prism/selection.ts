import {
  getNamedType,
  isCompositeType,
  isObjectType,
  isUnionType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql'

/** Selects all fields down to a depth; members of unions under names of their own, as their types may differ. */
export function selectionOf(type: GraphQLOutputType, depth = 3): string {
  const named = getNamedType(type)
  if (!isCompositeType(named)) return ''
  if (isUnionType(named)) {
    const members = named
      .getTypes()
      .map((member, index) => `... on ${member.name} { ${fieldsOf(member, depth - 1, `v${index}_`)} }`)
    return `{ __typename ${members.join(' ')} }`
  }
  return isObjectType(named) ? `{ ${fieldsOf(named, depth, '')} }` : '{ __typename }'
}

function fieldsOf(type: GraphQLObjectType, depth: number, prefix: string): string {
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const inner = isCompositeType(getNamedType(field.type))
    if (inner && depth <= 0) return []
    const name = prefix === '' ? field.name : `${prefix}${field.name}: ${field.name}`
    return [`${name} ${inner ? selectionOf(field.type, depth - 1) : ''}`]
  })
  return ['__typename', ...fields].join(' ')
}
