import { GrpcCallError, type StatusName } from '@vinyasa/grpc-transport'
import type { MutationOutcome } from '@vinyasa/invalidation'

/** What is made of a call that ended with a status. Whoever asks one of these questions looks here. */
export interface Fault {
  /** The code that clients read. */
  readonly code: string
  /** Stands in the place of the backend's message, where clients are not to read that. */
  readonly text: string
  /** The backend's message is written for who called. That of machinery is not: it names hosts, files or code. */
  readonly isForCaller: boolean
  /** What a mutation that was sent has done: with a refusal the service itself says that it did nothing. */
  readonly outcome: MutationOutcome
  /** Queries are sent again. */
  readonly isRetried: boolean
  /** A server that says so when it is asked for its health runs: it has no health service, or none for this caller. */
  readonly isAlive: boolean
}

const INTERNAL: Fault = {
  code: 'INTERNAL_SERVER_ERROR',
  text: 'Internal server error',
  isForCaller: false,
  outcome: 'unknown',
  isRetried: false,
  isAlive: false,
}
/** The service says that it did not do what it was asked for, and why. */
const REFUSED: Omit<Fault, 'code' | 'text'> = { ...INTERNAL, isForCaller: true, outcome: 'refused' }

export const FAULTS: Readonly<Record<StatusName, Fault>> = {
  OK: INTERNAL,
  CANCELLED: { ...INTERNAL, code: 'CANCELLED', text: 'The call was cancelled' },
  UNKNOWN: INTERNAL,
  INVALID_ARGUMENT: { ...REFUSED, code: 'BAD_USER_INPUT', text: 'The service rejected an argument' },
  DEADLINE_EXCEEDED: { ...INTERNAL, code: 'TIMEOUT', text: 'The service did not respond in time' },
  NOT_FOUND: { ...REFUSED, code: 'NOT_FOUND', text: 'The service did not find the requested entity' },
  ALREADY_EXISTS: { ...REFUSED, code: 'CONFLICT', text: 'The entity already exists' },
  PERMISSION_DENIED: {
    ...REFUSED,
    code: 'FORBIDDEN',
    text: 'The service does not allow this call',
    isAlive: true,
  },
  RESOURCE_EXHAUSTED: {
    ...INTERNAL,
    code: 'RATE_LIMITED',
    text: 'The service has exhausted a resource or a quota',
    isForCaller: true,
  },
  FAILED_PRECONDITION: {
    ...REFUSED,
    code: 'FAILED_PRECONDITION',
    text: 'The service cannot process this call in its current state',
  },
  // Some parts of a transaction that was cut off may stand.
  ABORTED: {
    ...INTERNAL,
    code: 'CONFLICT',
    text: 'The service aborted the call because of a conflict',
    isForCaller: true,
  },
  OUT_OF_RANGE: {
    ...REFUSED,
    code: 'BAD_USER_INPUT',
    text: 'The service rejected an argument that is out of range',
  },
  // Clients give it to a reply without a message as well, so nobody knows what was done.
  UNIMPLEMENTED: {
    ...INTERNAL,
    code: 'NOT_IMPLEMENTED',
    text: 'The service does not implement this method',
    isAlive: true,
  },
  INTERNAL,
  UNAVAILABLE: {
    ...INTERNAL,
    code: 'SERVICE_UNAVAILABLE',
    text: 'The service is unavailable',
    isRetried: true,
  },
  DATA_LOSS: INTERNAL,
  UNAUTHENTICATED: {
    ...REFUSED,
    code: 'UNAUTHENTICATED',
    text: 'The service could not authenticate the caller',
    isAlive: true,
  },
}

/** Whether a call shows that the backend can be reached; undefined: the call was ended on this side. */
export function isReached(status: StatusName): boolean | undefined {
  if (status === 'CANCELLED' || status === 'RESOURCE_EXHAUSTED') return undefined
  return status !== 'UNAVAILABLE' && status !== 'DEADLINE_EXCEEDED'
}

/** What grpc-js itself says of a connection. */
const OF_GRPC_JS = /^(?:No connection established|Name resolution failed)/

/** Describes a failed call for logs: its status only if the message may be the backend's, which may quote requests. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof GrpcCallError)) return 'UNKNOWN'
  const { status, message, wasSent, cause } = error
  const isOwn = cause instanceof Error && !('details' in cause)
  return !wasSent || isOwn || OF_GRPC_JS.test(message) ? message : status
}
