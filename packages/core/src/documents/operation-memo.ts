import { getOperationAST, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql'

/** Operation as a client selects it. A missing name selects the only operation of the document. */
export interface NamedOperation {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
}

/**
 * Creates a cache for values derived from an operation and a schema. Entries live as long as both. Unknown operation
 * names are not cached, because clients can send any number of them.
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
