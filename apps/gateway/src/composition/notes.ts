import type { GraphQLSchema } from 'graphql'
import { noteUnmetRules } from '../access/rules/unmet-rules.ts'
import { unknownLiveCallers } from '../dependencies/live-callers.ts'
import { noteUncachedCode } from '../dependencies/varies-by.ts'
import { lateBackends, type Note } from './late-backends.ts'
import type { Parts } from './parts.ts'
import { unansweredExamples } from '../graphiql/check-examples.ts'
import { unknownStatedTypes } from './unknown-stated-types.ts'
import { unknownLiveTypes } from './unknown-live-types.ts'

/**
 * Notes on what sources left out, or call otherwise than their descriptions do, on what cannot be live, on what nobody may have,
 * and on what is too late. Those that no source has logged are logged.
 */
export function noteAll(
  schema: GraphQLSchema,
  { config, logger, sources }: Pick<Parts, 'config' | 'logger' | 'sources'>,
): readonly Note[] {
  const bySetting = {
    liveQuery: [...unknownLiveCallers(schema, config), ...unknownLiveTypes(schema, config)],
    dependencies: [...unknownStatedTypes(schema), ...noteUncachedCode(schema, config)],
    graphql: unansweredExamples(schema, config.graphql?.examples ?? []),
    access: noteUnmetRules(schema, config),
  }
  const own: readonly Note[] = [
    ...Object.entries(bySetting).flatMap(([source, notes]) => notes.map((note) => ({ source, note }))),
    ...lateBackends(config),
  ]
  for (const { note } of own) logger.warn(note)
  return [...sources.flatMap(({ name, notes }) => notes.map((note) => ({ source: name, note }))), ...own]
}
