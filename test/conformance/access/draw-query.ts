import {
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql'
import type { Random } from '@vinyasa/test-kit'

/** A random query: aliases, fragments of objects and interfaces, `@skip`, the same field twice. */
export function drawQuery(schema: GraphQLSchema, random: Random): string {
  let names = 0
  const fragments: string[] = []

  function selection(type: GraphQLNamedType, depth: number): string {
    const parts: string[] = []
    if (isAbstractType(type)) {
      for (const one of schema.getPossibleTypes(type)) {
        if (random.below(2) === 0) parts.push(`... on ${one.name} ${selection(one, depth)}`)
      }
    }
    const fields = 'getFields' in type ? Object.values(type.getFields()) : []
    for (const field of fields) {
      if (random.below(2) === 0) continue
      const of = getNamedType(field.type as GraphQLOutputType)
      if (!isLeafType(of) && depth <= 0) continue
      const args = 'args' in field && field.args.length > 0 ? `(id: "${1 + random.below(3)}")` : ''
      // Two types behind one interface may not give one name to fields of two kinds.
      const alias = random.below(4) === 0 ? `n${names++}: ` : ''
      const skip = random.below(8) === 0 ? ` @skip(if: ${random.below(2) === 0})` : ''
      const below: string = isLeafType(of) ? '' : ` ${selection(of, depth - 1)}`
      const text = `${alias || (args ? `n${names++}: ` : '')}${field.name}${args}${skip}${below}`
      parts.push(isObjectType(type) && random.below(5) === 0 ? fragment(type.name, text) : text)
    }
    if (parts.length === 0 || random.below(6) === 0) parts.push('__typename')
    return `{ ${parts.join(' ')} }`
  }

  function fragment(typeName: string, text: string): string {
    const name = `F${fragments.length}`
    fragments.push(`fragment ${name} on ${typeName} { ${text} }`)
    return `...${name}`
  }

  const root = schema.getQueryType()
  if (!root) throw new Error('The schema has no queries.')
  const text = selection(root, 3)
  return [`query ${text}`, ...fragments].join(' ')
}
