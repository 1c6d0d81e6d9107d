import type { GraphQLSchema } from 'graphql'
import { formatPath, messageOf } from '../errors.ts'
import { firstMistake } from '../texts/first-mistake.ts'

/** Returns a line for each of the config's examples that the schema does not answer. */
export function unansweredExamples(
  schema: GraphQLSchema,
  examples: readonly { readonly query: string; readonly variables?: string | undefined }[],
): readonly string[] {
  return examples.flatMap(({ query, variables }, index) => {
    const mistakes = [
      ['query', firstMistake(query, schema)],
      ['variables', variables === undefined ? undefined : mistakeInJson(variables)],
    ] as const
    return mistakes.flatMap(([setting, mistake]) =>
      mistake === undefined ? [] : [`${formatPath(['graphql', 'examples', index, setting])}: ${mistake}`],
    )
  })
}

function mistakeInJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
