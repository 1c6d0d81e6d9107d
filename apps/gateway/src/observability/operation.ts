import { Kind, type DocumentNode, type OperationDefinitionNode } from 'graphql'

export interface OperationFacts {
  readonly type: 'query' | 'mutation' | 'subscription'
  readonly name: string | undefined
}

/** The operation of a document that is executed. */
export function operationOf(document: DocumentNode, operationName: unknown): OperationFacts {
  const operations = document.definitions.filter(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  )
  const chosen = operations.find((operation) => operation.name?.value === operationName) ?? operations[0]
  return { type: chosen?.operation ?? 'query', name: chosen?.name?.value }
}

/** `extensions.code` of every error of a result; an error without one is of the gateway's own making. */
export function errorCodesOf(result: unknown): readonly string[] {
  if (result === null || typeof result !== 'object' || !('errors' in result)) return []
  if (!Array.isArray(result.errors)) return []
  return result.errors.map((error: { extensions?: { code?: unknown } }) => {
    const code = error.extensions?.code
    return typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR'
  })
}
