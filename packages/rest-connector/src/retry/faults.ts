import type { RestErrorCode } from '../errors.ts'
import { BadStatus } from '../http/attempt.ts'
import { DeadlineExceeded } from '../http/ending.ts'
import { isNetworkError, NoPlace } from '../http/failures.ts'

/** What is made of an attempt that failed. Whoever asks one of these questions looks here. */
export interface Fault {
  /** The code that clients read. */
  readonly code: RestErrorCode
  /** The circuit breaker counts it: it speaks against the upstream, and not against one request. */
  readonly isCounted: boolean
  /** A stale answer may stand for it (RFC 5861, section 4): it is a 500, 502, 503 or 504, or as good as one. */
  readonly isCovered: boolean
  /**
   * Which requests are sent again: `any` by both presets, `aggressive` by that one alone, `idempotent` where sending twice
   * does no harm, as nobody knows whether the upstream did the work. Of statuses the setting `retryStatuses` decides.
   */
  readonly repeats: 'any' | 'aggressive' | 'idempotent' | 'none'
  /** A mutation has done nothing, or nobody knows what it has done, so that caches evict. */
  readonly outcome: 'refused' | 'unknown'
}

/** The request is wrong, by the status: the upstream says that it has done nothing. */
const OF_REQUEST: Fault = {
  code: 'INTERNAL_SERVER_ERROR',
  isCounted: false,
  isCovered: false,
  repeats: 'none',
  outcome: 'refused',
}
/** The attempt ended otherwise: by a redirect that is not followed, an answer that cannot be used, a caller who left. */
const OTHER: Fault = { ...OF_REQUEST, outcome: 'unknown' }
const OF_UPSTREAM: Fault = { ...OTHER, isCounted: true }
/** The upstream is not well for now. */
const FOR_NOW: Fault = { ...OF_UPSTREAM, isCovered: true, repeats: 'any' }

/** A status that is not here is like the others of its hundred. */
const OF_STATUS: ReadonlyMap<number, Fault> = new Map([
  [400, { ...OF_REQUEST, code: 'BAD_USER_INPUT' }],
  [401, { ...OF_REQUEST, code: 'UNAUTHENTICATED' }],
  [403, { ...OF_REQUEST, code: 'FORBIDDEN' }],
  [404, { ...OF_REQUEST, code: 'NOT_FOUND' }],
  // Who stands before an API answers so too, whatever the API does meanwhile.
  [408, { ...OTHER, code: 'TIMEOUT', repeats: 'aggressive' }],
  [409, { ...OF_REQUEST, code: 'CONFLICT' }],
  [410, { ...OF_REQUEST, code: 'NOT_FOUND' }],
  [412, { ...OF_REQUEST, code: 'FAILED_PRECONDITION' }],
  [422, { ...OF_REQUEST, code: 'BAD_USER_INPUT' }],
  [428, { ...OF_REQUEST, code: 'FAILED_PRECONDITION' }],
  // It speaks against the caller's rate, and is over after a while.
  [429, { ...OF_REQUEST, code: 'RATE_LIMITED', repeats: 'any' }],
  [499, OTHER],
  [500, FOR_NOW],
  // It stays so, and nothing was done.
  [501, { ...OF_UPSTREAM, code: 'NOT_IMPLEMENTED', outcome: 'refused' }],
  [502, { ...FOR_NOW, code: 'SERVICE_UNAVAILABLE' }],
  [503, { ...FOR_NOW, code: 'SERVICE_UNAVAILABLE' }],
  [504, { ...FOR_NOW, code: 'TIMEOUT' }],
] as const satisfies readonly (readonly [number, Fault])[])

const OF_DEADLINE: Fault = { ...FOR_NOW, code: 'TIMEOUT', repeats: 'idempotent' }
const OF_NETWORK: Fault = { ...FOR_NOW, code: 'SERVICE_UNAVAILABLE', repeats: 'idempotent' }
/** Nothing was sent. */
const OF_CONNECTING: Fault = { ...OF_NETWORK, outcome: 'refused' }
/** The breaker does not count what it refused itself. */
const OF_OPEN_CIRCUIT: Fault = {
  ...OF_REQUEST,
  code: 'SERVICE_UNAVAILABLE',
  isCovered: true,
}

/** It is this side's own bound: it says nothing of the upstream. */
const OF_NO_PLACE: Fault = { ...OF_REQUEST, code: 'TOO_MANY_AT_ONCE', isCovered: true }

/** The fault of an answer that is not a success. */
export function faultOfStatus(status: number): Fault {
  const known = OF_STATUS.get(status)
  if (known) return known
  if (status >= 500) return OF_UPSTREAM
  return status >= 400 ? OF_REQUEST : OTHER
}

/** The fault that an error of an attempt is, whoever asks. */
export function faultOf(error: unknown): Fault {
  if (error instanceof BadStatus) return faultOfStatus(error.status)
  if (error instanceof DeadlineExceeded) return OF_DEADLINE
  if (isCircuitOpen(error)) return OF_OPEN_CIRCUIT
  if (error instanceof NoPlace) return OF_NO_PLACE
  if (isConnectError(error)) return OF_CONNECTING
  return isNetworkError(error) ? OF_NETWORK : OTHER
}

/** Statuses that are sent again by a preset. */
export function statusesRepeated(...by: readonly Fault['repeats'][]): readonly number[] {
  return [...OF_STATUS].flatMap(([status, { repeats }]) => (by.includes(repeats) ? [status] : []))
}

export function isCircuitOpen(error: unknown): boolean {
  return error instanceof Error && 'isBrokenCircuitError' in error
}

/** The system calls in which a socket fails before it has sent anything. */
const CONNECTING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo'])

function isConnectError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // Node tries the addresses of a name one after the other.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isConnectError)
  const { code, syscall } = error as NodeJS.ErrnoException
  return CONNECTING.has(syscall) || code === 'UND_ERR_CONNECT_TIMEOUT'
}
