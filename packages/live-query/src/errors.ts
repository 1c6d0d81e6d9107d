import { type AnyKnownOptions, isPromise, wrongOption } from '@vinyasa/core'
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql'

/** The operation does not allow live queries. */
export function liveQueryNotEnabled(field: string): GraphQLError {
  return new GraphQLError(
    `The field "Query.${field}" cannot be queried with @live. Remove @live, or enable live queries for the field.`,
    { extensions: { code: 'LIVE_QUERY_NOT_ENABLED', field } },
  )
}

/** The caller that the results depend on cannot be determined. */
export function liveQueryCallerUnknown(): GraphQLError {
  return new GraphQLError(
    'The query cannot be live, because the server cannot determine how the results depend on the caller. Send the query without @live, or set the live query option "contextKey" on the server.',
    { extensions: { code: 'LIVE_QUERY_CALLER_UNKNOWN' } },
  )
}

/** The same error for the operator of the server. */
export function unknownCallerReason(unknown: string): string {
  return `A live query was refused, because its results depend on the caller in an unknown way: ${unknown}. Set the live query option "contextKey" to a function that returns a string per caller, or null to disable sharing.`
}

/** A limit of subscriptions is reached. */
export function liveQueryLimit(what: string, limit: number): GraphQLError {
  return new GraphQLError(
    `The limit of ${limit} ${what} is reached. End a live query or another operation, or try again later.`,
    { extensions: { code: 'LIVE_QUERY_LIMIT', limit } },
  )
}

/** The memory limit requires the end of the subscription. */
export function liveQueryMemory(): GraphQLError {
  return new GraphQLError(
    'The server has reached its memory limit for client data and ended this subscription to free memory. Subscribe again later, and select less data.',
    { extensions: { code: 'LIVE_QUERY_LIMIT' } },
  )
}

/** `revalidate` refused the caller. The subscription ends. */
export function liveQueryUnauthenticated(cause?: unknown): GraphQLError {
  return new GraphQLError(
    'The credentials of this live query are no longer valid or could not be verified. Subscribe again with valid credentials.',
    {
      extensions: { code: 'UNAUTHENTICATED' },
      ...(cause instanceof Error ? { originalError: cause } : {}),
    },
  )
}

/** The client does not accept a stream. HTTP 406. */
export function streamNotAcceptable(): GraphQLError {
  return new GraphQLError(
    'The response is a stream, but the Accept header does not allow streams. Accept text/event-stream or multipart/mixed;subscriptionSpec=1.0.',
    { extensions: { code: 'STREAM_NOT_ACCEPTABLE' } },
  )
}

/** The server is stopping and starts no streams. HTTP 503. */
export function serverStops(): GraphQLError {
  return new GraphQLError('The server is stopping. Send the operation again to another server.', {
    extensions: { code: 'SERVICE_UNAVAILABLE', http: { status: 503, headers: { 'Retry-After': '1' } } },
  })
}

/**
 * Returns whether a result has the error of a stopping server. Its status must be sent as the status of the response.
 */
export function isServerStop(result: unknown): boolean {
  const [error] = (Object(result) as ExecutionResult).errors ?? []
  return error?.extensions?.['code'] === 'SERVICE_UNAVAILABLE'
}

/** An option is invalid. Thrown when the server or a subscription starts. */
export function invalidLiveOption(where: string, expected: string, got: unknown): GraphQLError {
  return new GraphQLError(
    `Invalid live query option ${where}: expected ${expected}, got ${typeof got === 'number' ? got : JSON.stringify(got)}.`,
    {
      extensions: { code: 'LIVE_QUERY_INVALID_OPTION' },
    },
  )
}

const ENVELOP = '@envelop/live-query'
const IN_MEMORY_STORE = '@n1ru4l/in-memory-live-query-store'
const NOTHING = 'remove the option, because @vinyasa/live-query does not have it'

/** Options of other packages, with the package and the replacement here. */
const OPTIONS_ELSEWHERE: Readonly<Record<string, readonly [whose: string, here: string]>> = {
  liveQueryStore: [ENVELOP, 'use store: createLiveQueryStore()'],
  applyLiveQueryPatchGenerator: [
    ENVELOP,
    'remove the option, because @vinyasa/live-query always sends the complete result',
  ],
  validateThrottleValue: [IN_MEMORY_STORE, 'use throttleMs in the option fields or defaults'],
  indexBy: [IN_MEMORY_STORE, NOTHING],
  buildResourceIdentifier: [IN_MEMORY_STORE, NOTHING],
  idFieldName: [IN_MEMORY_STORE, NOTHING],
  includeIdentifierExtension: [IN_MEMORY_STORE, NOTHING],
}

/** The function `contextKey` returned an unusable value. */
export function unusableContextKey(given: unknown): GraphQLError {
  const what = isPromise(given) ? 'a promise' : typeof given === 'object' ? 'an object' : `a ${typeof given}`
  const gave = `contextKey returned ${what}; expected a string or null`
  return new GraphQLError(`live query: ${gave}. Subscribers with this value do not share one execution.`, {
    extensions: { code: 'LIVE_QUERY_INVALID_OPTION' },
  })
}

/** Throws LIVE_QUERY_INVALID_OPTION for an invalid option. */
export function refuseWrong(options: object, known: AnyKnownOptions): void {
  const foreign = Object.entries(options).find(
    ([name, value]) => value !== undefined && Object.hasOwn(OPTIONS_ELSEWHERE, name),
  )?.[0]
  const [whose, here] = OPTIONS_ELSEWHERE[foreign ?? ''] ?? []
  const unknown = whose ? `option ${foreign} belongs to ${whose}; ${here}.` : wrongOption(options, known)
  if (unknown === undefined) return
  throw new GraphQLError(`live query: ${unknown}`, { extensions: { code: 'LIVE_QUERY_INVALID_OPTION' } })
}

/** Returns the error that a client receives for an internal failure. */
export function unexpectedError(cause: unknown): GraphQLError {
  return new GraphQLError('Unexpected error.', {
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
    ...(cause instanceof Error ? { originalError: cause } : {}),
  })
}

/** Hooks can return any object with the properties of an error, but graphql-ws requires the class. */
export function toGraphQLError(error: GraphQLError | GraphQLFormattedError): GraphQLError {
  if (error instanceof GraphQLError) return error
  const { message, extensions = null } = error
  return new GraphQLError(String(message), { extensions })
}

/** A page was refused a socket. The operator may have to add its origin. */
export class OriginRefusedError extends Error {
  readonly code = 'LIVE_QUERY_ORIGIN'
  constructor(origin: string) {
    super(
      `A WebSocket of the origin ${origin} was refused, because allowedOrigins does not allow this origin. Add the origin if you trust it ("*" allows all origins that send no cookies and no Authorization header).`,
    )
    this.name = 'OriginRefusedError'
  }
}

/** The store is closed or the id is in use. This is an error of the program, not of a client. */
export class LiveQueryStoreError extends Error {
  readonly code: 'LIVE_QUERY_STORE_CLOSED' | 'LIVE_QUERY_DUPLICATE_ID'
  constructor(code: 'LIVE_QUERY_STORE_CLOSED' | 'LIVE_QUERY_DUPLICATE_ID', message: string) {
    super(message)
    this.name = 'LiveQueryStoreError'
    this.code = code
  }
}

/** Thrown by an execution to end the subscriptions of its group with these errors. */
export class EndLiveQuery extends Error {
  readonly errors: readonly GraphQLError[]
  constructor(errors: readonly GraphQLError[]) {
    super(errors[0]?.message ?? 'The live query ended.')
    this.name = 'EndLiveQuery'
    this.errors = errors
  }
}

/** Cloudflare Workers cannot use objects of another request, so updates could not be sent. */
export function liveQueryPlatform(): Error {
  return new Error(
    '@vinyasa/live-query updates open requests from other requests, which Cloudflare Workers do not allow. Run the server on Node, Bun or Deno.',
  )
}

/** The default of `onError`. */
export function reportError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.error('[vinyasa] live query:', error)
}
