import { describeVariesBy } from '@vinyasa/invalidation'
import type { GraphQLSchema } from 'graphql'
import type { AnswerSections } from '../answers/answer-types.ts'
import { ConfigError } from '../errors.ts'

/** Whether the response cache must know which request data each response depends on. */
export function needsVariesBy({ responseCache = false }: AnswerSections): boolean {
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
