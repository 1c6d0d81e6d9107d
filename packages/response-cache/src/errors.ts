import { isPromise } from '@vinyasa/core'
import { GraphQLError } from 'graphql'

/** The error codes of this package in `extensions.code`. */
type ResponseCacheErrorCode =
  | 'RESPONSE_CACHE_CONFIG'
  | 'RESPONSE_CACHE_UNAVAILABLE'
  | 'RESPONSE_CACHE_UNKNOWN_CALLER'

function coded(code: ResponseCacheErrorCode, message: string, cause?: unknown): GraphQLError {
  return new GraphQLError(`response-cache: ${message}`, {
    extensions: { code },
    originalError: cause instanceof Error ? cause : null,
  })
}

/** An option has an invalid value. Thrown at startup. */
export function configError(option: string, found: unknown, expected: string): GraphQLError {
  const shown = typeof found === 'string' ? `"${found}"` : String(found)
  return coded('RESPONSE_CACHE_CONFIG', `option ${option} is ${shown}; expected ${expected}.`)
}

/** An option has the name that another package uses. Thrown at startup. */
export function foreignOption(name: string, here: string | undefined): GraphQLError {
  const fix =
    here === undefined ? 'remove the option, because @vinyasa/response-cache does not have it' : `use ${here}`
  return coded('RESPONSE_CACHE_CONFIG', `option ${name} belongs to @envelop/response-cache; ${fix}.`)
}

const REQUEST_OF_CONTEXT = 'Read the request from context.request.'

/** A function has two parameters, as for another cache that passes the request first. Thrown at startup. */
export function twoParameters(option: string): GraphQLError {
  const expected = 'expected only the context'
  return coded(
    'RESPONSE_CACHE_CONFIG',
    `option ${option} takes more than one parameter; ${expected}. ${REQUEST_OF_CONTEXT}`,
  )
}

const UNTIL_FIXED = 'Responses are not cached until the option is fixed.'

/** A function of the options returned an unusable value. */
export function unusableValue(option: 'session' | 'enabled', given: unknown): GraphQLError {
  const what = isPromise(given) ? 'promise' : Array.isArray(given) ? 'list' : typeof given
  const expected = option === 'session' ? 'a string or null' : 'true or false'
  const gave = `option ${option} returned ${what === 'object' ? 'an' : 'a'} ${what}; expected ${expected}`
  return coded('RESPONSE_CACHE_CONFIG', `${gave}. Operations with this value are not cached.`)
}

/** A function of the options treats the context as a request. */
export function misreadContext(option: string, name: string): GraphQLError {
  const reads = `option ${option} reads ${name} of its parameter, but the parameter is the context, not the request`
  return coded('RESPONSE_CACHE_CONFIG', `${reads}. ${REQUEST_OF_CONTEXT} ${UNTIL_FIXED}`)
}

/** An option is invalid, with the message of `wrongOption`. Thrown at startup. */
export function wrongOptions(wrong: string): GraphQLError {
  return coded('RESPONSE_CACHE_CONFIG', wrong)
}

export function redisClientMissing(cause: unknown): GraphQLError {
  return coded(
    'RESPONSE_CACHE_CONFIG',
    'redisUrl needs the package ioredis, which cannot be loaded. Run npm install ioredis@6. If you bundle the server, use store: createRedisStore({ url }) from @vinyasa/response-cache/redis.',
    cause,
  )
}

/** The shared store did not respond. Requests are served without the cache until it responds. */
export function storeUnavailable(what: string, cause: unknown): GraphQLError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return coded(
    'RESPONSE_CACHE_UNAVAILABLE',
    `the shared store is not available (${what}: ${reason}). Requests are served without the cache until the store is available.`,
    cause,
  )
}

/** Code read a part of a request that is not in the key. */
export function readBeyondKey(read: string, varyHeaders: readonly string[]): GraphQLError {
  const isHeader = /^[^ .]+$/.test(read)
  const what = isHeader ? `the request header "${read}"` : read
  const list = [...varyHeaders, read].map((name) => `'${name}'`).join(', ')
  const add = isHeader ? `Set varyHeaders: [${list}], or set` : 'Set'
  return coded(
    'RESPONSE_CACHE_UNKNOWN_CALLER',
    `some operations are not cached, because code reads ${what}, which the cache key does not contain. ${add} the option session to a function that returns a string per caller. If responses do not depend on ${what}, set ignoredReads: ['${read}'].`,
  )
}

/** A source can respond differently per caller in a way that no key can represent. Such operations are not cached. */
export function unknownCaller(reason: string): GraphQLError {
  return coded(
    'RESPONSE_CACHE_UNKNOWN_CALLER',
    `some operations are not cached, because their responses depend on the caller in an unknown way (${reason}). Set the option session, for example session: (context) => context.userId.`,
  )
}
