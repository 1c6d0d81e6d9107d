import { createDependencies, statedDependsOn } from '@vinyasa/invalidation'
import { isObjectType, type GraphQLSchema } from 'graphql'

/** A field of which the schema does not say enough, and the word of the config that would. */
export interface UnseenDependency {
  readonly coordinate: string
  readonly word: 'changes' | 'dependsOn'
  readonly what: string
}

/** Where nothing says what an answer depends on, so that every mutation evicts it, and which mutations evict everything. */
export function unseenDependencies(
  schema: GraphQLSchema,
  idFields: readonly string[] | undefined,
): readonly UnseenDependency[] {
  const { ofField, ofMutationField } = createDependencies(schema, { idFields })
  const mutation = schema.getMutationType()
  const subscription = schema.getSubscriptionType()
  const found: UnseenDependency[] = []
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__') || type === subscription) continue
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`
      const add = (word: UnseenDependency['word'], what: string): number =>
        found.push({
          coordinate,
          word,
          what: `${what}: dependencies: { '${coordinate}': { ${word}: [...] } }`,
        })
      if (type === mutation) {
        if (ofMutationField(field).everything) add('changes', 'evicts everything; state what it changes')
      } else if (ofField(type.name, field).everything && !statedDependsOn(field)?.includes('*')) {
        add('dependsOn', 'depends on everything; state on what')
      }
    }
  }
  return found
}

/** Of each kind, what is listed unless all are asked for: an imported document has hundreds. */
const MAX_LISTED = 5

/** What `check` says of them: fields of `Query` first, as whole answers depend on them. */
export function unseenLines(unseen: readonly UnseenDependency[], listAll: boolean): string[] {
  return (['changes', 'dependsOn'] as const).flatMap((kind) => {
    const found = unseen.filter(({ word }) => word === kind)
    const first = ({ coordinate }: UnseenDependency): number => (coordinate.startsWith('Query.') ? 0 : 1)
    const listed = found
      .toSorted((a, b) => first(a) - first(b))
      .slice(0, listAll ? found.length : MAX_LISTED)
      .map(({ coordinate, what }) => `${coordinate} ${what}`)
    const more = found.length - listed.length
    const whatMore =
      kind === 'changes' ? 'mutations more evict everything' : 'fields more depend on everything'
    return more > 0 ? [...listed, `${more} ${whatMore}; check --verbose lists them`] : listed
  })
}
