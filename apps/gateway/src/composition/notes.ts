import type { GraphQLSchema } from 'graphql'
import { unknownLiveCallers } from '../dependencies/live-callers.ts'
import { noteUncachedCode } from '../dependencies/varies-by.ts'
import { lateBackends, type Note } from './late-backends.ts'
import type { Parts } from './parts.ts'
import { unknownLiveTypes } from './unknown-live-types.ts'
import { statedChanges, statedDependsOn } from '@vinyasa/invalidation'
import { areUnknown, suggestFor, definitionsIn } from '../coordinates.ts'
import { formatPath, messageOf } from '../errors.ts'
import { firstMistake } from '../texts/first-mistake.ts'
import type { AccessRule, AccessSections } from '../access/access-types.ts'
import { refusalOf, toRequirement } from '../access/rules/requirement.ts'

/** Limit of the places that a note lists. */
const MAX_LISTED = 10

/**
 * Returns a note on rules that refuse everybody, since nobody is ever known to ask; none if tokens or plugins
 * may say who asks. Keeping fields from everybody may be meant, so that it is no mistake.
 */
function noteUnmetRules(
  schema: GraphQLSchema,
  {
    auth,
    access = {},
    plugins = [],
  }: Pick<AccessSections, 'auth' | 'access'> & { readonly plugins?: readonly object[] | undefined },
): string[] {
  // Code may say who asks too.
  if (auth || plugins.length > 0) return []
  const { fields = {}, policies = {} } = access
  const mayHold = (name: string): boolean => typeof policies[name] === 'function'
  const inSchema = [...definitionsIn(schema)].map(
    ([coordinate, { extensions }]) => [coordinate, extensions['access'] as AccessRule | undefined] as const,
  )
  const unmet = [...Object.entries(fields), ...inSchema].filter(([, rule]) => {
    const requirement = rule && toRequirement(rule)
    return requirement && refusalOf([requirement], undefined, mayHold)
  })
  const places = [...new Set(unmet.map(([coordinate]) => coordinate))]
  if (places.length === 0) return []
  const more = places.length - MAX_LISTED
  const listed = places.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '')
  return [
    `access to ${listed} is always refused because the rules require an authenticated caller, but auth.jwt is not set; set auth.jwt, or add a plugin that sets context.auth`,
  ]
}

/** Returns a line for each of the config's examples that the schema does not answer. */
function unansweredExamples(
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

/** Returns a line for each type that a source's statements name and the schema does not have: nothing is known by it. */
function unknownStatedTypes(schema: GraphQLSchema): readonly string[] {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) => {
      const stated = { changes: statedChanges(field) ?? [], dependsOn: statedDependsOn(field) ?? [] }
      return Object.entries(stated)
        .filter(([, names]) => areUnknown(schema, names))
        .map(([setting, names]) => lineFor(schema, `${root?.name ?? ''}.${field.name}`, setting, names))
    }),
  )
}

function lineFor(schema: GraphQLSchema, field: string, setting: string, names: readonly string[]): string {
  const [first = ''] = names
  const listed = [...new Set(names)].map((name) => `"${name}"`).join(', ')
  return `${field}: ${setting} lists ${listed}, but the schema has no such type${suggestFor(schema, first)}`
}

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
