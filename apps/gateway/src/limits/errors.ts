import { GraphQLError } from 'graphql'

export const DOCUMENT_LIMIT_EXCEEDED = 'DOCUMENT_LIMIT_EXCEEDED'

/** A document is larger than the gateway accepts. Answered with HTTP 400 before anything is executed. */
export function limitExceeded(what: string, limit: number): GraphQLError {
  return exceeded(`The document has more than ${limit} ${what}; split or simplify the operation.`)
}

/** The same for the JSON that it comes in. */
export function jsonLimitExceeded(what: string, limit: number): GraphQLError {
  return exceeded(`The JSON of the request has more than ${limit} ${what}; send a smaller request.`)
}

/** The errors of a result; none of what is no result, or comes in parts. */
export function errorsOf(result: unknown): readonly GraphQLError[] {
  const { errors } = Object(result) as { readonly errors?: unknown }
  return Array.isArray(errors) ? (errors as readonly GraphQLError[]) : []
}

function exceeded(message: string): GraphQLError {
  return new GraphQLError(message, {
    extensions: { code: DOCUMENT_LIMIT_EXCEEDED, http: { status: 400 } },
  })
}
