import { getOperationAST, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql'

/** An operation as a client names it: null or undefined is the only one of its document. */
export interface NamedOperation {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
}

/**
 * Remembers what follows from an operation under a schema, as long as both live. A name that the document does not have is
 * answered anew each time: clients may think of any number of them.
 */
export function createOperationMemo<Value>(): (operation: NamedOperation, create: () => Value) => Value {
  const bySchema = new WeakMap<GraphQLSchema, WeakMap<OperationDefinitionNode, Value>>()
  return ({ schema, document, operationName }, create) => {
    const definition = getOperationAST(document, operationName)
    if (!definition) return create()
    let known = bySchema.get(schema)
    if (!known) bySchema.set(schema, (known = new WeakMap()))
    const before = known.get(definition)
    if (before !== undefined) return before
    const value = create()
    known.set(definition, value)
    return value
  }
}
