import { GraphQLError, parse, validate, type GraphQLSchema } from 'graphql'
import { formatPath, messageOf } from '../errors.ts'

/** Returns a line for each of the config's examples that the schema does not answer. */
export function unansweredExamples(
  schema: GraphQLSchema,
  examples: readonly { readonly query: string; readonly variables?: string | undefined }[],
): readonly string[] {
  return examples.flatMap(({ query, variables }, index) => {
    const mistakes = [
      ['query', mistakeIn(query, schema)],
      ['variables', variables === undefined ? undefined : mistakeInJson(variables)],
    ] as const
    return mistakes.flatMap(([setting, mistake]) =>
      mistake === undefined ? [] : [`${formatPath(['graphql', 'examples', index, setting])}: ${mistake}`],
    )
  })
}

function mistakeIn(text: string, schema: GraphQLSchema): string | undefined {
  try {
    return validate(schema, parse(text), undefined, { maxErrors: 1 })[0]?.message
  } catch (error) {
    if (error instanceof GraphQLError) return error.message
    throw error
  }
}

function mistakeInJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
