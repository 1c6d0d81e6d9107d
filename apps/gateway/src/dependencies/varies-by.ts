import { describeVariesBy, type VariesBy } from '@vinyasa/invalidation'
import type { GraphQLSchema } from 'graphql'
import type { AnswerSections } from '../answers/answer-types.ts'
import { definitionsIn } from '../coordinates.ts'
import { ConfigError } from '../errors.ts'

function needsVariesBy({ responseCache = false }: AnswerSections): boolean {
  return responseCache !== false && (responseCache === true || !responseCache.session)
}

/** Throws {@link ConfigError} where the response cache could not tell whom an answer is for. */
export function refuseUnknownCaller(schema: GraphQLSchema, config: AnswerSections): void {
  if (!needsVariesBy(config)) return
  const { unknown } = describeVariesBy(schema)
  if (unknown === undefined) return
  const message = `responseCache cannot determine which clients may share a response: ${unknown}. Alternatively, set responseCache.session to a function (context) => string that identifies the caller`
  throw new ConfigError([{ message, path: ['responseCache'] }])
}

/** Limit of the fields that the note lists. */
const MAX_LISTED = 10

/** Returns a line that names the fields of code which keep responses out of the cache, as nothing declares what they read. */
export function noteUncachedCode(schema: GraphQLSchema, config: AnswerSections): readonly string[] {
  if (!needsVariesBy(config)) return []
  const fields = [...definitionsIn(schema)].flatMap(([coordinate, { extensions }]) =>
    (extensions['variesBy'] as VariesBy | undefined)?.isPersonal ? [coordinate] : [],
  )
  if (fields.length === 0) return []
  const more = fields.length - MAX_LISTED
  const listed = fields.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '')
  return [
    `responses with ${listed} are not cached because the request headers that the resolvers read are not declared; declare the headers, or [] if the resolver reads none, for example with dependencies: { '${fields[0]}': { variesBy: [] } }`,
  ]
}
