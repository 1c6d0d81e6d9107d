import { isPromise } from '@vinyasa/base'
import { GraphQLError } from 'graphql'

/** The stable codes of this package's errors, in `extensions.code`. */
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

/** An option that cannot work; thrown at start. */
export function configError(option: string, found: unknown, expected: string): GraphQLError {
  const shown = typeof found === 'string' ? `"${found}"` : String(found)
  return coded('RESPONSE_CACHE_CONFIG', `option ${option} is ${shown}; expected ${expected}.`)
}

/** An option by the name that another package has for it; thrown at start. */
export function foreignOption(name: string, here: string | undefined): GraphQLError {
  const mend = here === undefined ? 'there is nothing like it here' : `here it is ${here}`
  return coded('RESPONSE_CACHE_CONFIG', `option ${name} is of @envelop/response-cache; ${mend}.`)
}

const REQUEST_OF_CONTEXT = 'there the request is context.request'

/** A function that was written for another cache, which gives it the request first; thrown at start. */
export function twoParameters(option: string): GraphQLError {
  const expected = `expected one, the context: ${REQUEST_OF_CONTEXT}`
  return coded('RESPONSE_CACHE_CONFIG', `option ${option} takes two parameters; ${expected}.`)
}

const UNTIL_MENDED = 'Nothing is cached until it does.'

/** A function of the owner's gave what says nothing. */
export function unusableValue(option: 'session' | 'enabled', given: unknown): GraphQLError {
  const what = isPromise(given) ? 'promise' : Array.isArray(given) ? 'list' : typeof given
  const expected = option === 'session' ? 'a text, or null for nobody' : 'true or false'
  const gave = `option ${option} gave ${what === 'object' ? 'an' : 'a'} ${what}; expected ${expected}`
  return coded('RESPONSE_CACHE_CONFIG', `${gave}. ${UNTIL_MENDED}`)
}

/** A function of the owner's takes the context for a request. */
export function misreadContext(option: string, name: string): GraphQLError {
  const reads = `option ${option} reads ${name} of what it is given, which is the context`
  return coded(
    'RESPONSE_CACHE_CONFIG',
    `${reads}: ${REQUEST_OF_CONTEXT}. Nothing is cached until it reads that.`,
  )
}

/** An option that cannot work, in the words of `wrongOption`; thrown at start. */
export function wrongOptions(wrong: string): GraphQLError {
  return coded('RESPONSE_CACHE_CONFIG', wrong)
}

export function redisClientMissing(cause: unknown): GraphQLError {
  return coded(
    'RESPONSE_CACHE_CONFIG',
    'redisUrl needs the package ioredis, which is not beside it. Install it: npm install ioredis@6. In a bundle, which has it inside, use store: createRedisStore({ url }) of @vinyasa/response-cache/redis',
    cause,
  )
}

/** The shared store did not answer; requests are served without a cache until it does. */
export function storeUnavailable(what: string, cause: unknown): GraphQLError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return coded(
    'RESPONSE_CACHE_UNAVAILABLE',
    `the shared store is not reachable (${what}: ${reason}). Requests are served without the cache until it is back.`,
    cause,
  )
}

/** Code read something of a request that is no part of the key. */
export function readBeyondKey(read: string, varyHeaders: readonly string[]): GraphQLError {
  const isHeader = /^[^ .]+$/.test(read)
  const what = isHeader ? `the request header "${read}"` : read
  const list = [...varyHeaders, read].map((name) => `'${name}'`).join(', ')
  const add = isHeader ? `Write varyHeaders: [${list}], or set` : 'Set'
  return coded(
    'RESPONSE_CACHE_UNKNOWN_CALLER',
    `some operations are not cached: code reads ${what}, which is not part of the cache key. ${add} session: (context) => a text for whom the response is. If no response depends on it, write ignoredReads: ['${read}'].`,
  )
}

/** Operations that a source may answer differently for everybody, in a way that no key can hold; not cached. */
export function unknownCaller(reason: string): GraphQLError {
  return coded(
    'RESPONSE_CACHE_UNKNOWN_CALLER',
    `some operations are not cached, as nothing says for whom an answer is: ${reason}. Set the option session, for example session: (context) => context.userId.`,
  )
}
