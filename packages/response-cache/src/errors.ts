import { GraphQLError } from 'graphql'

/** The stable codes of this package's errors, in `extensions.code`. */
export type ResponseCacheErrorCode =
  | 'RESPONSE_CACHE_CONFIG'
  | 'RESPONSE_CACHE_UNAVAILABLE'
  | 'RESPONSE_CACHE_UNKNOWN_ASKER'

/** An option that cannot work; thrown at start. */
export function configError(option: string, found: unknown, expected: string): GraphQLError {
  const shown = typeof found === 'string' ? `"${found}"` : String(found)
  return new GraphQLError(`response-cache: option ${option} is ${shown}; expected ${expected}.`, {
    extensions: { code: 'RESPONSE_CACHE_CONFIG' satisfies ResponseCacheErrorCode },
  })
}

/** An option by the name that another package has for it; thrown at start. */
export function foreignOption(name: string, here: string | undefined): GraphQLError {
  const mend = here === undefined ? 'there is nothing like it here' : `here it is ${here}`
  return new GraphQLError(`response-cache: option ${name} is of @envelop/response-cache; ${mend}.`, {
    extensions: { code: 'RESPONSE_CACHE_CONFIG' satisfies ResponseCacheErrorCode },
  })
}

/** An option that nothing reads; thrown at start. */
export function noSuchOption(unknown: string): GraphQLError {
  return new GraphQLError(`response-cache: ${unknown}`, {
    extensions: { code: 'RESPONSE_CACHE_CONFIG' satisfies ResponseCacheErrorCode },
  })
}

export function redisClientMissing(cause: unknown): GraphQLError {
  return new GraphQLError(
    'response-cache: redisUrl needs the package ioredis, which is not installed. Install it: npm install ioredis@5',
    {
      extensions: { code: 'RESPONSE_CACHE_CONFIG' satisfies ResponseCacheErrorCode },
      originalError: cause instanceof Error ? cause : null,
    },
  )
}

/** The shared store did not answer; requests are served without a cache until it does. */
export function storeUnavailable(what: string, cause: unknown): GraphQLError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new GraphQLError(
    `response-cache: the shared store is not reachable (${what}: ${reason}). Requests are served without the cache until it is back.`,
    {
      extensions: { code: 'RESPONSE_CACHE_UNAVAILABLE' satisfies ResponseCacheErrorCode },
      originalError: cause instanceof Error ? cause : null,
    },
  )
}

/** Operations that a source may answer differently for everybody, in a way that no key can hold; not cached. */
export function unknownAsker(reason: string): GraphQLError {
  return new GraphQLError(
    `response-cache: some operations are not cached, as nothing says for whom an answer is: ${reason}. Set the option session, for example session: (context) => context.userId.`,
    { extensions: { code: 'RESPONSE_CACHE_UNKNOWN_ASKER' satisfies ResponseCacheErrorCode } },
  )
}
