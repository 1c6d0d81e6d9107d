import { createDependencies, statedDependsOn } from '@vinyasa/invalidation'
import { isObjectType, type GraphQLSchema } from 'graphql'

/** A field of which the schema does not say enough, and the word of the config that would. */
export interface UnseenDependency {
  readonly coordinate: string
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
      const state = (word: string): string => `dependencies: { '${coordinate}': { ${word}: [...] } }`
      if (type === mutation) {
        if (ofMutationField(field).everything)
          found.push({ coordinate, what: `evicts everything; state what it changes: ${state('changes')}` })
      } else if (ofField(type.name, field).everything && !statedDependsOn(field)?.includes('*')) {
        found.push({ coordinate, what: `depends on everything; state on what: ${state('dependsOn')}` })
      }
    }
  }
  return found
}
