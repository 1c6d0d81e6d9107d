import { createDependencies, statedDependsOn, type VariesBy } from '@vinyasa/invalidation'
import { isObjectType, type GraphQLSchema } from 'graphql'

/** A field with undeclared dependencies, and the setting that declares them. */
interface Undeclared {
  readonly coordinate: string
  readonly word: 'changes' | 'dependsOn' | 'variesBy'
  readonly what: string
}

/**
 * Finds fields that depend on everything, as nothing says on what, so that every mutation evicts their
 * answers; mutations that evict everything; and fields that code of the config answers without saying for
 * whom.
 */
function undeclaredIn(schema: GraphQLSchema): readonly Undeclared[] {
  const { ofField, ofMutationField } = createDependencies(schema)
  const mutation = schema.getMutationType()
  const subscription = schema.getSubscriptionType()
  const found: Undeclared[] = []
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__') || type === subscription) continue
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`
      const add = (word: Undeclared['word'], what: string): number =>
        found.push({
          coordinate,
          word,
          what: `${what}: dependencies: { '${coordinate}': { ${word}: [...] } }`,
        })
      if ((field.extensions['variesBy'] as VariesBy | undefined)?.isPersonal)
        add(
          'variesBy',
          'is resolved by custom code, so responses with this field are cached and shared only if responseCache.session or liveQuery.contextKey identifies the caller; declare the request headers that the code reads',
        )
      if (type === mutation) {
        if (ofMutationField(field).everything)
          add(
            'changes',
            'changes unknown types, so it invalidates all cached responses and live queries; declare the types',
          )
      } else if (ofField(type.name, field).everything && !statedDependsOn(field)?.includes('*')) {
        add(
          'dependsOn',
          'depends on unknown types, so every mutation invalidates responses with this field; declare the types',
        )
      }
    }
  }
  return found
}

/** Limit of the lines of each kind, unless all are asked for: an imported document has hundreds. */
const MAX_LISTED = 5

const MORE = {
  changes: ['mutation', 'with unknown changes'],
  dependsOn: ['field', 'with unknown dependencies'],
  variesBy: ['field', 'resolved by custom code whose request headers are not declared'],
} as const

/** Returns the lines of `check` about undeclared dependencies: fields of `Query` first, as complete responses depend on them. */
export function undeclaredLines(schema: GraphQLSchema, listAll: boolean): string[] {
  const undeclared = undeclaredIn(schema)
  return (['changes', 'dependsOn', 'variesBy'] as const).flatMap((kind) => {
    const found = undeclared.filter(({ word }) => word === kind)
    const first = ({ coordinate }: Undeclared): number => (coordinate.startsWith('Query.') ? 0 : 1)
    const listed = found
      .toSorted((a, b) => first(a) - first(b))
      .slice(0, listAll ? found.length : MAX_LISTED)
      .map(({ coordinate, what }) => `${coordinate} ${what}`)
    const more = found.length - listed.length
    const [noun, rest] = MORE[kind]
    const whatMore = `${more} more ${noun}${more === 1 ? '' : 's'} ${rest}`
    return more > 0 ? [...listed, `${whatMore}; run vinyasa check --verbose to list all`] : listed
  })
}
