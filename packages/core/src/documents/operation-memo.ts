import {
  type DocumentNode,
  getOperationAST,
  GraphQLSchema,
  type GraphQLSchemaConfig,
  type OperationDefinitionNode,
} from 'graphql'

/** Operation as a client selects it. A missing name selects the only operation of the document. */
interface NamedOperation {
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

/**
 * Returns a copy of a schema with changes that do not add fields. The copy has all extensions of the schema,
 * including those with symbol keys. graphql 16 would drop them, and plugins mark wrapped resolvers with
 * symbol keys.
 */
export function schemaWith(schema: GraphQLSchema, changes: Partial<GraphQLSchemaConfig>): GraphQLSchema {
  const changed = new GraphQLSchema({ ...schema.toConfig(), ...changes })
  changed.extensions = { ...schema.extensions, ...changed.extensions }
  return changed
}
