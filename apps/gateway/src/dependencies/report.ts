import { createDependencies, type Dependencies, statedDependsOn, type VariesBy } from '@vinyasa/invalidation'
import { getNamedType, isObjectType, type GraphQLSchema } from 'graphql'

/** A field with undeclared dependencies, and the setting that declares them. */
interface Undeclared {
  readonly coordinate: string
  readonly kind: keyof typeof MORE
  readonly what: string
}

/**
 * Finds fields with unknown dependencies, whose responses every mutation evicts; fields that can be computed from other
 * entities; mutations that evict everything; and fields of custom code that do not declare the headers that they read.
 */
function undeclaredIn(schema: GraphQLSchema): readonly Undeclared[] {
  const dependencies = createDependencies(schema)
  const { ofField, ofMutationField } = dependencies
  const computed = dependencies.computedFields()
  const numbers = numbersOfEntities(schema, dependencies)
  const mutation = schema.getMutationType()
  const subscription = schema.getSubscriptionType()
  const found: Undeclared[] = []
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__') || type === subscription) continue
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`
      const add = (kind: Undeclared['kind'], what: string): number =>
        found.push({
          coordinate,
          kind,
          what: `${what}: dependencies: { '${coordinate}': { ${kind === 'computed' ? 'dependsOn' : kind}: [...] } }`,
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
      const values = computed.get(coordinate)
      const number = numbers.get(coordinate)
      if (values)
        add(
          'computed',
          `can be computed from ${[...values].sort().join(', ')}, so mutations that select such a value invalidate all responses with a value of this type; declare the types, or [] if there are none`,
        )
      else if (number !== undefined)
        add(
          'computed',
          `can be computed from ${number}, but mutations of ${number} do not invalidate responses with this field; declare the types, or [] if there are none`,
        )
    }
  }
  return found
}

/** Finds numbers that are named for an entity on which their object does not depend, e.g. `Category.productCount`. */
function numbersOfEntities(schema: GraphQLSchema, dependencies: Dependencies): ReadonlyMap<string, string> {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)
  const entities = new Map<string, string>()
  for (const { name } of types.filter((type) => dependencies.isEntity(type.name))) {
    const words = name.charAt(0).toLowerCase() + name.slice(1)
    for (const plural of [words, `${words}s`, words.replace(/y$/, 'ies')]) entities.set(plural, name)
  }
  const found = new Map<string, string>()
  for (const type of types) {
    for (const field of Object.values(type.getFields())) {
      const noun = /^(.+?)(?:Count|Total|Sum)?$/.exec(field.name)?.[1] ?? ''
      const entity = entities.get(noun)
      const isNumber = ['Int', 'Float'].includes(getNamedType(field.type).name)
      if (!entity || entity === type.name || !isNumber || statedDependsOn(field)) continue
      const own = dependencies.isEntity(type.name) ? undefined : dependencies.ofType(type.name)
      const isKnown = own && (own.everything || own.types.has(entity))
      if (!isKnown && !dependencies.ofField(type.name, field).everything)
        found.set(`${type.name}.${field.name}`, entity)
    }
  }
  return found
}

/** Limit of the lines of each kind, unless all are asked for: an imported document has hundreds. */
const MAX_LISTED = 5

const MORE = {
  changes: ['mutation', 'with unknown changes'],
  dependsOn: ['field', 'with unknown dependencies'],
  computed: ['field', 'that can be computed from other types'],
  variesBy: ['field', 'resolved by custom code whose request headers are not declared'],
} as const

/** Returns the lines of `check` about undeclared dependencies: fields of `Query` first, as complete responses depend on them. */
export function undeclaredLines(schema: GraphQLSchema, listAll: boolean): string[] {
  const undeclared = undeclaredIn(schema)
  return (['changes', 'dependsOn', 'computed', 'variesBy'] as const).flatMap((kind) => {
    const found = undeclared.filter((one) => one.kind === kind)
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
