import { describeAsker } from '@vinyasa/invalidation'
import type { GraphQLSchema } from 'graphql'
import type { AnswerSections } from '../answers/answer-types.ts'
import { ConfigError } from '../errors.ts'

/** Throws {@link ConfigError} where the response cache could not tell whom an answer is for. */
export function refuseUnknownAsker(schema: GraphQLSchema, { responseCache = false }: AnswerSections): void {
  if (responseCache === false || (responseCache !== true && responseCache.session)) return
  const { unknown } = describeAsker(schema)
  if (unknown === undefined) return
  const message = `responseCache.session is needed: ${unknown}. Or say with responseCache.session, (context) => string, whom an answer is for`
  throw new ConfigError([{ message, path: ['responseCache'] }])
}
