import { GraphQLError } from 'graphql'

/** The operation holds more active `@defer` fragments than allowed: refused before execution, HTTP 400. */
export function tooManyFragments(count: number, limit: number): GraphQLError {
  return new GraphQLError(
    `The operation defers ${count} fragments, but at most ${limit} are allowed. Remove some @defer directives.`,
    { extensions: { code: 'DEFER_TOO_MANY_FRAGMENTS', limit, http: { status: 400 } } },
  )
}

/** The client accepts only multipart formats that are not spoken here: HTTP 406. */
export function formatNotAcceptable(): GraphQLError {
  return new GraphQLError(
    'The operation uses @defer, but the server supports none of the multipart formats in the Accept header. Accept multipart/mixed;deferSpec=20220824, multipart/mixed;incrementalSpec=v0.2 or application/json.',
    { extensions: { code: 'DEFER_FORMAT_NOT_ACCEPTABLE', http: { status: 406 } } },
  )
}

/** A deferred fragment, or the query as a whole, took too long: the error in the patch that stands for the fragment. */
export function fragmentTimedOut(path: readonly (string | number)[], why: string): GraphQLError {
  return new GraphQLError(`The deferred fragment was not ready in time: ${why}.`, {
    path: [...path],
    extensions: { code: 'DEFER_FRAGMENT_TIMEOUT' },
  })
}

/** The part is not sent, as the answer has become too large: the error in the patch that stands for it. */
export function notSent(refusal: GraphQLError, path: readonly (string | number)[]): GraphQLError {
  const { http: _, ...extensions } = refusal.extensions
  return new GraphQLError(refusal.message, { path: [...path], extensions })
}

/** The query took too long before anything could be sent: HTTP 504. */
export function totalTimedOut(limitMs: number): GraphQLError {
  return new GraphQLError(
    `The operation took longer than ${limitMs} ms. Request less data, or split the operation.`,
    {
      extensions: { code: 'DEFER_TOTAL_TIMEOUT', http: { status: 504 } },
    },
  )
}
