import {
  getNamedType,
  Kind,
  OperationTypeNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql'
import { fragmentsOf, possibleObjects } from '@vinyasa/documents'
import {
  selectOperation,
  type Dependence,
  type Dependencies,
  type SelectedField,
} from '@vinyasa/invalidation'
import { entityTypesOf, triggersOfTypes } from './triggers.ts'

export interface FieldTriggersInput {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly dependencies: Dependencies
  readonly field: GraphQLField<unknown, unknown>
  /** The operation's selection of the field. */
  readonly node: FieldNode
  /** The field's own list; empty: derived. */
  readonly explicit: readonly string[]
  readonly dependsOn: readonly string[]
}

/** Hit by every event: of what nobody knows what it is made of. */
const ANY = '*.*'

/**
 * Returns what re-executes a root field: what its own value is made of, which an explicit list replaces, what
 * the fields below it add to that, the types it is said to depend on, and its own name.
 */
export function triggersOfField(input: FieldTriggersInput): string[] {
  const { schema, dependencies, field, explicit, dependsOn } = input
  const queryName = schema.getQueryType()?.name ?? ''
  const own = dependencies.ofField(queryName, field)
  const ownTypes = new Set(possibleObjects(schema, getNamedType(field.type)).map(({ name }) => name))
  if (!own.everything) for (const name of own.types) ownTypes.add(name)
  const below = fieldsBelow(input, queryName).map((selected) => dependenceOf(selected, dependencies))
  const added = new Set(below.flatMap((part) => (part.everything ? [] : [...part.types])))
  const derived =
    explicit.length > 0
      ? [...added].filter((name) => !ownTypes.has(name))
      : new Set([...entityTypesOf(schema, field.type), ...ownTypes, ...added])
  const isOpen = explicit.length === 0 && dependsOn.length === 0 && own.everything
  return [
    ...explicit,
    ...triggersOfTypes(derived),
    ...dependsOn.map((type) => `${type}.*`),
    ...(isOpen || below.some((part) => part.everything) ? [ANY] : []),
    `Query.${field.name}`,
  ]
}

/** Every field that the operation selects below the root field. */
function fieldsBelow({ schema, document, node }: FieldTriggersInput, queryName: string): SelectedField[] {
  const alone: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        kind: Kind.OPERATION_DEFINITION,
        operation: OperationTypeNode.QUERY,
        selectionSet: { kind: Kind.SELECTION_SET, selections: [node] },
      },
      ...fragmentsOf(document).values(),
    ],
  }
  const selected = selectOperation(schema, alone, undefined)
  return selected?.fields.filter(({ parent }) => parent.name !== queryName) ?? []
}

/** Returns what a field depends on, for one of an interface on any of the types that it stands for. */
function dependenceOf({ definitions }: SelectedField, dependencies: Dependencies): Dependence {
  const types = new Set<string>()
  for (const { typeName, field } of definitions) {
    const one = dependencies.ofField(typeName, field)
    if (one.everything) return one
    for (const name of one.types) types.add(name)
  }
  return { everything: false, types }
}
