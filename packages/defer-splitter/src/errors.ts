import { GraphQLError } from 'graphql'

/** The operation has more active `@defer` fragments than allowed. It is refused before execution with HTTP 400. */
export function tooManyFragments(count: number, limit: number): GraphQLError {
  return new GraphQLError(
    `The operation defers ${count} fragments, but at most ${limit} are allowed. Remove some @defer directives.`,
    { extensions: { code: 'DEFER_TOO_MANY_FRAGMENTS', limit, http: { status: 400 } } },
  )
}

/** The client accepts only unsupported multipart formats. HTTP 406. */
export function formatNotAcceptable(): GraphQLError {
  return new GraphQLError(
    'The operation uses @defer, but the server supports none of the multipart formats in the Accept header. Accept multipart/mixed;deferSpec=20220824, multipart/mixed;incrementalSpec=v0.2 or application/json.',
    { extensions: { code: 'DEFER_FORMAT_NOT_ACCEPTABLE', http: { status: 406 } } },
  )
}

/** A deferred fragment or the complete query exceeded its timeout. The error is in the patch of the fragment. */
export function fragmentTimedOut(path: readonly (string | number)[], why: string): GraphQLError {
  return new GraphQLError(`The deferred fragment was not ready in time: ${why}.`, {
    path: [...path],
    extensions: { code: 'DEFER_FRAGMENT_TIMEOUT' },
  })
}

/** The part is not sent because the response is too large. The error is in the patch of the part. */
export function notSent(refusal: GraphQLError, path: readonly (string | number)[]): GraphQLError {
  const { http: _, ...extensions } = refusal.extensions
  return new GraphQLError(refusal.message, { path: [...path], extensions })
}

/** The query exceeded its timeout before the first part was sent. HTTP 504. */
export function totalTimedOut(limitMs: number): GraphQLError {
  return new GraphQLError(
    `The operation took longer than ${limitMs} ms. Request less data, or split the operation.`,
    {
      extensions: { code: 'DEFER_TOTAL_TIMEOUT', http: { status: 504 } },
    },
  )
}
