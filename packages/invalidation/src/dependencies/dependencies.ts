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

/** The types that an answer depends on, or that a mutation changes. */
export type Dependence =
  /** Nothing says what: any change may be one of it. */
  | { readonly everything: true }
  /** Names of object types; statements may add names that the schema does not have. */
  | { readonly everything: false; readonly types: ReadonlySet<string> }

export const everything: Dependence = { everything: true }

export interface DependencyOptions {
  /** Fields that make an object type that queries can give an entity. Default `['id']`. */
  readonly idFields?: readonly string[] | undefined
}

/**
 * The statements of a schema itself on answers and changes, computed from types and selections, never from
 * names of fields or from results. `extensions.dependsOn` and `extensions.changes` state what types cannot
 * show.
 */
export interface Dependencies {
  /** Whether the name is an object type with an id field that a query can give. */
  isEntity(typeName: string): boolean
  /**
   * A value of the type: the type itself, through types without an id field, up to and including the first ones with
   * one, and what the fields on the way state. Everything where no entity is reached.
   */
  ofType(typeName: string): Dependence
  /** Returns what selecting a field of a type adds to what an answer depends on. */
  ofField(parentName: string, field: Field): Dependence
  /** All that an operation's answer depends on. Everything when the document has no such operation. */
  ofOperation(document: DocumentNode, operationName?: string | null): Dependence
  /** Returns what a field of the mutation type changes: what it states, and what its result is made of. */
  ofMutationField(field: Field): Dependence
  /** Returns what a mutation changes: what its root fields change, and the types that it selects. */
  ofMutation(document: DocumentNode, operationName?: string | null): Dependence
}

/** Cheap to make; each type is looked at once, when it is first asked for. One for each schema is enough. */
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

/** The dependencies of each schema that a server has had, made once for each. */
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
