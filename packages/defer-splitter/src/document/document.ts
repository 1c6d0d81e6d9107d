import {
  type DocumentNode,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import {
  foldSelections,
  forEachDirective,
  type Fragments,
  fragmentsOf,
  isIncluded,
  type Variables,
  withoutDirectives,
} from '@vinyasa/core/documents'
import { activeDefer, createDeferFinder, incrementalNames, isIncremental } from './directives.ts'

/** The alias under which the eager strategy asks an abstract type's objects for their type. Never sent. */
export const typenameAlias = '__deferTypename'

/** Whether the document mentions `@defer` or `@stream` at all, in force or not. */
export function mentionsIncremental(document: DocumentNode): boolean {
  let found = false
  forEachDirective(document, (node) => {
    if (isIncremental(node)) found = true
  })
  return found
}

/** The document without `@defer` and `@stream`, and without the variables that only they used. */
export function stripIncremental(document: DocumentNode): DocumentNode {
  return withoutDirectives(document, incrementalNames)
}

/**
 * The document for the eager strategy: stripped, and asking for the type of objects of abstract types wherever a
 * deferred fragment lies below and depends on it.
 */
export function toEagerDocument(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const typeInfo = new TypeInfo(schema)
  const defersBelow = createDeferFinder(fragmentsOf(document))
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

/** How many `@defer` fragments are in force in the operation. A named fragment counts each time it is spread. */
export function countDeferred(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
): number {
  const count = foldSelections<number>(fragments, 0, ({ selections }, below) => {
    let sum = 0
    for (const selection of selections) {
      if (!isIncluded(selection, variables)) continue
      if (selection.kind !== Kind.FIELD && activeDefer(selection, variables)) sum++
      sum += below(selection)
    }
    return sum
  })
  return count(operation.selectionSet)
}
