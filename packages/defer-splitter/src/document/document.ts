import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import {
  activeDirective,
  createDeferFinder,
  getFragments,
  isIncluded,
  isIncremental,
  type Variables,
} from './collect-fields.ts'

/** The alias under which the eager strategy asks an abstract type's objects for their type. Never sent. */
export const typenameAlias = '__deferTypename'

/** Whether the document mentions `@defer` or `@stream` at all, in force or not. */
export function mentionsIncremental(document: DocumentNode): boolean {
  let found = false
  visit(document, {
    Directive(node) {
      if (isIncremental(node)) found = true
    },
  })
  return found
}

/** The names of the variables on which it depends what is selected and what is deferred. */
export function directiveVariables(document: DocumentNode): readonly string[] {
  const names = new Set<string>()
  visit(document, {
    Directive(node) {
      if (!isIncremental(node) && node.name.value !== 'skip' && node.name.value !== 'include') return
      visit(node, { Variable: ({ name }) => void names.add(name.value) })
    },
  })
  return [...names]
}

/** The document without `@defer` and `@stream`, and without the variables that only they used. */
export function stripIncremental(document: DocumentNode): DocumentNode {
  const onlyForDirectives = new Set<string>()
  const stripped: DocumentNode = visit(document, {
    Directive(node) {
      if (!isIncremental(node)) return undefined
      visit(node, { Variable: ({ name }) => void onlyForDirectives.add(name.value) })
      return null
    },
  })
  visit(stripped, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void onlyForDirectives.delete(name.value),
  })
  return visit(stripped, {
    VariableDefinition: ({ variable }) => (onlyForDirectives.has(variable.name.value) ? null : false),
  })
}

/**
 * The document for the eager strategy: stripped, and asking for the type of objects of abstract types wherever a
 * deferred fragment lies below and depends on it.
 */
export function toEagerDocument(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const typeInfo = new TypeInfo(schema)
  const defersBelow = createDeferFinder(getFragments(document))
  const annotated: DocumentNode = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      SelectionSet: {
        leave(node) {
          const type = typeInfo.getParentType()
          if (!type || !isAbstractType(type) || !defersBelow(node)) return undefined
          return {
            ...node,
            selections: [
              ...node.selections,
              {
                kind: Kind.FIELD,
                alias: { kind: Kind.NAME, value: typenameAlias },
                name: { kind: Kind.NAME, value: '__typename' },
              },
            ],
          }
        },
      },
    }),
  )
  return stripIncremental(annotated)
}

/**
 * How many `@defer` fragments are in force in the operation. A named fragment counts each time it is spread; counts of
 * fragments are kept, so a document that multiplies them costs no more than its length.
 */
export function countDeferred(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Variables,
): number {
  const ofFragments = new Map<string, number>()

  function ofFragment(name: string): number {
    const known = ofFragments.get(name)
    if (known !== undefined) return known
    ofFragments.set(name, 0)
    const fragment = fragments.get(name)
    const count = fragment ? ofSelectionSet(fragment.selectionSet) : 0
    ofFragments.set(name, count)
    return count
  }

  function ofSelectionSet(selectionSet: SelectionSetNode): number {
    let count = 0
    for (const selection of selectionSet.selections) {
      if (!isIncluded(selection, variables)) continue
      if (selection.kind !== Kind.FIELD && activeDirective(selection, 'defer', variables)) count++
      if (selection.kind === Kind.FRAGMENT_SPREAD) count += ofFragment(selection.name.value)
      else if (selection.selectionSet) count += ofSelectionSet(selection.selectionSet)
    }
    return count
  }

  return ofSelectionSet(operation.selectionSet)
}
