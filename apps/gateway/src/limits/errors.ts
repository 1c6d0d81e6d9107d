import { GraphQLError } from 'graphql'

export const DOCUMENT_LIMIT_EXCEEDED = 'DOCUMENT_LIMIT_EXCEEDED'

/** A document is larger than the gateway accepts. Answered with HTTP 400 before anything is executed. */
export function limitExceeded(what: string, limit: number): GraphQLError {
  return new GraphQLError(
    `The document has more than ${limit} ${what}; split the operation, or ask for less at once.`,
    {
      extensions: { code: DOCUMENT_LIMIT_EXCEEDED, http: { status: 400 } },
    },
  )
}
