import { GraphQLError } from 'graphql'

/** Creates the error for what the HTTP layer itself refuses; `message` is all that the client learns. */
export function requestRefused(status: number, code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status } } })
}

export function badRequest(message: string): GraphQLError {
  return requestRefused(400, 'BAD_REQUEST', message)
}
