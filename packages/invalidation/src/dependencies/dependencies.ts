import {
  defaultFieldResolver,
  getNamedType,
  isLeafType,
  type DocumentNode,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql'
import { keyed } from '@vinyasa/base'
import { selectOperation, type SelectedField } from './selected-fields.ts'
import { statedChanges, statedDependsOn } from './statements.ts'
import { createTypeClosures, rootsOf, type TypeClosure } from './type-closure.ts'

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
   * Names of id fields. An object type is an entity if it has one of them and queries can return it. Default
   * `['id']`.
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
  /**
   * Returns the types that a value of a type consists of. It follows fields through types without an id field, up to
   * and including the first entities. Declarations of the fields on the way count too. Returns `everything` if it
   * reaches no entity.
   */
  ofType(typeName: string): Dependence
  /** Returns the dependencies that a response gets if it selects the field. */
  ofField(parentName: string, field: Field): Dependence
  /**
   * Returns the dependencies of an operation's response. Returns `everything` if the document lacks the operation.
   */
  ofOperation(document: DocumentNode, operationName?: string | null): Dependence
  /** Returns the types that a mutation field changes: its declared changes and the types of its result. */
  ofMutationField(field: Field): Dependence
  /**
   * Returns the types that a mutation operation changes: the changes of its root fields and all types that it
   * selects.
   */
  ofMutation(document: DocumentNode, operationName?: string | null): Dependence
}

/** Creates the dependencies of a schema. Each type is computed on first use, so create them once per schema. */
export function createDependencies(schema: GraphQLSchema, options: DependencyOptions = {}): Dependencies {
  const { idFields = ['id'] } = options
  const closures = createTypeClosures(schema, idFields)
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
    // A value that comes with its parent, and has no id, is a part of the parent.
    if (!closure.reachesEntity && !isStated && isFetched) return everything
    return union([...parts, ofClosure(closure)])
  }

  /** A name as a statement has it. */
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
    return union(isLeafType(type) ? parts : [...parts, ofClosure(closures.of(type.name))])
  }

  return {
    isEntity: closures.isEntity,
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

/** A field that does not come with its parent, whatever it gives: a join, or one with a resolver of the server's author. */
function hasOwnSource({ extensions, resolve }: Field): boolean {
  if (extensions['requires'] !== undefined) return true
  return resolve !== undefined && resolve !== defaultFieldResolver && extensions['origin'] === undefined
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
