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

/** The alias of `__typename` that the eager strategy adds for objects of abstract types. It is not sent to clients. */
export const typenameAlias = '__deferTypename'

/** Returns whether the document contains `@defer` or `@stream`, active or not. */
export function mentionsIncremental(document: DocumentNode): boolean {
  let found = false
  forEachDirective(document, (node) => {
    if (isIncremental(node)) found = true
  })
  return found
}

/** Returns the document without `@defer` and `@stream`, and without variables that only these directives use. */
export function stripIncremental(document: DocumentNode): DocumentNode {
  return withoutDirectives(document, incrementalNames)
}

/**
 * Returns the document for the eager strategy: without the directives, and with `__typename` for objects of abstract
 * types if a deferred fragment below depends on the type.
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

/** Returns the number of active `@defer` fragments in the operation. A named fragment counts each time it is spread. */
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
