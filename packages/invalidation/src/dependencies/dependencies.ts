import {
  getNamedType,
  isLeafType,
  type DocumentNode,
  type GraphQLField,
  type GraphQLSchema,
  isObjectType,
  type GraphQLObjectType,
} from 'graphql'
import { keyed } from '@vinyasa/core'
import {
  type SelectedField,
  selectOperation,
  statedChanges,
  statedDependsOn,
  statedIdFields,
} from './selected-fields.ts'
import { createValueTypes, hasOwnSource } from './value-types.ts'
import { possibleObjects } from '@vinyasa/core/documents'

/** The types that a value of a type consists of. */
interface TypeClosure {
  /** Object types: the type of the value, types without an id field below it, and the first types with an id field. */
  readonly types: ReadonlySet<string>
  /** Whether a type with an id field is among them according to the fields. Declarations of fields do not count. */
  readonly reachesEntity: boolean
  /** Whether a field on the way declares a dependency on `*`. */
  readonly isOpen: boolean
}

/** Each closure is computed on first use. */
function createTypeClosures(schema: GraphQLSchema, idFieldOf: Dependencies['idFieldOf']) {
  const roots = rootsOf(schema)
  let known: ReadonlySet<string> | undefined
  const queried = (): ReadonlySet<string> => (known ??= typesOfQueries(schema))

  /** The `id` of a payload that queries cannot return does not identify the data that a mutation changed. */
  function hasId(type: GraphQLObjectType): boolean {
    if (idFieldOf(type.name) === undefined) return false
    return queried().has(type.name)
  }

  function isEntity(typeName: string): boolean {
    const type = schema.getType(typeName)
    return isObjectType(type) && hasId(type)
  }

  /** Adds the types that `typeName` consists of to `types`. Returns the names that fields on the way declare. */
  function walk(typeName: string, types: Set<string>): string[] {
    // A field `query: Query` in a payload is not part of the result of the mutation.
    const followed = addReached(schema, typeName, types, roots, hasId)
    return followed.flatMap((field) => statedDependsOn(field) ?? [])
  }

  function closureOf(typeName: string): TypeClosure {
    const types = new Set<string>()
    const waiting = walk(typeName, types)
    const reachesEntity = [...types].some(isEntity)
    let isOpen = false
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (name === '*') isOpen = true
      else if (schema.getType(name)) waiting.push(...walk(name, types))
      // A backend can publish types that are not in the schema.
      else types.add(name)
    }
    return { types, reachesEntity, isOpen }
  }

  return { isEntity, queried, of: keyed(closureOf) }
}

/** Returns the root types. */
function rootsOf(schema: GraphQLSchema): ReadonlySet<GraphQLObjectType | null | undefined> {
  return new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
}

/** Returns all object types that queries can return. */
function typesOfQueries(schema: GraphQLSchema): ReadonlySet<string> {
  const found = new Set<string>()
  const root = schema.getQueryType()
  if (root) addReached(schema, root.name, found, new Set(), () => false)
  return found
}

/**
 * Adds the object types that a type leads to, and returns the fields that were followed.
 * @param left types to skip
 * @param isEnd whether the fields of an added type are not followed
 */
function addReached(
  schema: GraphQLSchema,
  start: string,
  types: Set<string>,
  left: ReturnType<typeof rootsOf>,
  isEnd: (type: GraphQLObjectType) => boolean,
): Field[] {
  const followed: Field[] = []
  const waiting = [start]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const type of possibleObjects(schema, schema.getType(name))) {
      if (left.has(type) || types.has(type.name)) continue
      types.add(type.name)
      if (isEnd(type)) continue
      for (const field of Object.values(type.getFields())) {
        followed.push(field)
        const below = getNamedType(field.type)
        if (!isLeafType(below)) waiting.push(below.name)
      }
    }
  }
  return followed
}

type Field = GraphQLField<unknown, unknown>

/** Types that a response depends on, or that a mutation changes. */
export type Dependence =
  /** The types are unknown, so every change counts. */
  | { readonly everything: true }
  /** Names of object types. Declarations can add names that the schema does not contain. */
  | { readonly everything: false; readonly types: ReadonlySet<string> }

export const everything: Dependence = { everything: true }

export interface DependencyOptions {
  /**
   * Names of id fields, in order of preference. An object type is an entity if it has one of them and queries can
   * return it. Default: `extensions.idFields` of the schema, or `['id']`.
   */
  readonly idFields?: readonly string[] | undefined
}

/**
 * Computes dependencies and changes from the types and selections of a schema. Field names and results are ignored.
 * `extensions.dependsOn` and `extensions.changes` of a field declare dependencies that types cannot express.
 */
export interface Dependencies {
  /** Returns whether the name is an object type with an id field that queries can return. */
  isEntity(typeName: string): boolean
  /** Returns the field that identifies entities of an object type: the first of the id fields that the type has. */
  idFieldOf(typeName: string): string | undefined
  /**
   * Returns the fields without `dependsOn` whose values can be computed from other entities, by coordinate, with the
   * types of these entities. Mutations that select such a value evict all responses that contain its type.
   */
  computedFields(): ReadonlyMap<string, ReadonlySet<string>>
  /**
   * Returns the types that a value of a type consists of. It follows fields through types without an id field, up to
   * and including the first entities. Declarations of the fields on the way count too. Returns `everything` if it
   * reaches no entity.
   */
  ofType(typeName: string): Dependence
  /** Returns the dependencies that a response gets if it selects the field. */
  ofField(parentName: string, field: Field): Dependence
  /** Returns the dependencies of an operation's response. Returns `everything` if the document lacks the operation. */
  ofOperation(document: DocumentNode, operationName?: string | null): Dependence
  /** Returns the types that a mutation field changes: its declared changes and the types of its result. */
  ofMutationField(field: Field): Dependence
  /**
   * Returns the types that a mutation operation changes: the changes of its root fields and all entities that it
   * selects. An object without an id field in an entity belongs to this entity. Its type is added only if the schema
   * contains a field without `dependsOn` that can be computed from it: a value outside of entities or from another
   * source, or a value of an entity that the source sends together with the changed entity.
   */
  ofMutation(document: DocumentNode, operationName?: string | null): Dependence
}

/** Creates the dependencies of a schema. Each type is computed on first use, so create them once per schema. */
export function createDependencies(schema: GraphQLSchema, options: DependencyOptions = {}): Dependencies {
  const { idFields = statedIdFields(schema) ?? ['id'] } = options
  const idFieldOf = keyed((typeName: string) => {
    const type = schema.getType(typeName)
    return isObjectType(type) ? idFields.find((name) => name in type.getFields()) : undefined
  })
  const closures = createTypeClosures(schema, idFieldOf)
  const valueTypes = createValueTypes({
    schema,
    isEntity: closures.isEntity,
    queried: closures.queried,
    closureOf: closures.of,
  })
  const mutationName = schema.getMutationType()?.name
  const rootNames = new Set([...rootsOf(schema)].map((type) => type?.name))

  function ofSelected(parentName: string, definitions: readonly Field[]): Dependence {
    const [field, ...behind] = definitions
    if (!field) return everything
    const parts = definitions.flatMap((definition) => statedDependsOn(definition) ?? []).map(ofName)
    const type = getNamedType(field.type)
    const isStated =
      statedDependsOn(field) !== undefined || (behind.length > 0 && behind.every(statedDependsOn))
    const isFetched = rootNames.has(parentName) || definitions.some(hasOwnSource)
    if (isLeafType(type)) return isStated || !isFetched ? union(parts) : everything
    const closure = closures.of(type.name)
    // A value that comes with its parent and has no id is a part of the parent.
    if (!closure.reachesEntity && !isStated && isFetched) return everything
    return union([...parts, ofClosure(closure)])
  }

  /** Returns the dependence for a name in a declaration. */
  function ofName(name: string): Dependence {
    if (name === '*') return everything
    return schema.getType(name) ? ofClosure(closures.of(name)) : { everything: false, types: new Set([name]) }
  }

  function ofMutationField(field: Field): Dependence {
    const stated = statedChanges(field)
    const type = getNamedType(field.type)
    const closure = isLeafType(type) ? undefined : closures.of(type.name)
    if (!stated && !closure?.reachesEntity) return everything
    return union([...(stated ?? []).map(ofName), ...(closure ? [ofClosure(closure)] : [])])
  }

  function changesOfSelected({ parent, definitions }: SelectedField): Dependence {
    const field = definitions[0]?.field
    if (!field) return everything
    if (parent.name === mutationName) return ofMutationField(field)
    const stated = definitions.flatMap((definition) => statedChanges(definition.field) ?? [])
    const type = getNamedType(field.type)
    const parts = stated.map(ofName)
    if (isLeafType(type)) return union(parts)
    const closure = closures.of(type.name)
    if (closure.isOpen) return everything
    const parents = definitions.filter(({ typeName }) => isObjectType(schema.getType(typeName)))
    const types = [...closure.types].filter((name) => {
      if (!isObjectType(schema.getType(name)) || closures.isEntity(name)) return true
      // Values outside of entities are part of a root field's result, which adds their types.
      return parents.some(
        (one) =>
          hasOwnSource(one.field) ||
          !valueTypes.belongsToParent(name, closures.isEntity(one.typeName) ? one.typeName : undefined),
      )
    })
    return union([...parts, { everything: false, types: new Set(types) }])
  }

  return {
    isEntity: closures.isEntity,
    idFieldOf,
    computedFields: valueTypes.computedFields,
    ofMutationField,
    ofType(typeName) {
      const closure = closures.of(typeName)
      return closure.reachesEntity ? ofClosure(closure) : everything
    },
    ofField: (parentName, field) => ofSelected(parentName, [field]),
    ofOperation(document, operationName) {
      const operation = selectOperation(schema, document, operationName)
      if (!operation) return everything
      return union(
        operation.fields.map(({ parent, definitions }) =>
          ofSelected(
            parent.name,
            definitions.map(({ field }) => field),
          ),
        ),
      )
    },
    ofMutation(document, operationName) {
      const operation = selectOperation(schema, document, operationName)
      return operation?.kind === 'mutation' ? union(operation.fields.map(changesOfSelected)) : everything
    },
  }
}

/** Creates a function that returns the dependencies of a schema. They are cached while the schema is referenced. */
export function createDependencyCache(options?: DependencyOptions): (schema: GraphQLSchema) => Dependencies {
  return keyed((schema: GraphQLSchema) => createDependencies(schema, options), new WeakMap())
}

function ofClosure({ types, isOpen }: TypeClosure): Dependence {
  return isOpen ? everything : { everything: false, types }
}

function union(parts: readonly Dependence[]): Dependence {
  const types = new Set<string>()
  for (const part of parts) {
    if (part.everything) return everything
    for (const type of part.types) types.add(type)
  }
  return { everything: false, types }
}
