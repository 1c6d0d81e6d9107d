import { GraphQLError, type GraphQLSchema, parse, validate } from 'graphql'

/** Returns the first mistake of a document, of its syntax or against the schema; undefined: it has none. */
export function firstMistake(document: string, schema: GraphQLSchema): string | undefined {
  try {
    return validate(schema, parse(document), undefined, { maxErrors: 1 })[0]?.message
  } catch (error) {
    if (error instanceof GraphQLError) return error.message
    throw error
  }
}
