import { type Abortable, type Clock, createAttachment, endingOf, isLiveRun, isSignal } from '@vinyasa/core'
import { endOfRead } from '@vinyasa/source-kit'

/** The parts of GraphQL's resolve info that a call looks at. */
export interface OperationInfo {
  readonly operation: { readonly operation: 'query' | 'mutation' | 'subscription' }
  readonly rootValue: unknown
  /** Set by a plan: see its `Site`. */
  readonly isOneCall?: boolean
}

/** The bytes that a call brought, and what the first who asked for it read in them. */
export interface Reply {
  readonly bytes: Uint8Array
  readonly read: (bytes: Uint8Array) => unknown
  readonly value: unknown
}

/** The state that calls of one operation share. */
export interface Operation {
  readonly startedAt: number
  /** Replies by path and request, so that identical reads are one call. */
  readonly replies: Map<string, Promise<Reply>>
}

export interface Operations {
  /** The operation that a resolver runs in. Each event of a subscription is one of its own. */
  of(context: unknown, info: OperationInfo | undefined): Operation
  /** Notes when a request arrived, before its context exists. */
  arrived(request: object): void
  /** Ends all sharing of the replies so far: something has changed since. */
  forget(): void
}

export function createOperations(clock: Clock): Operations {
  const ofScope = createAttachment<{ operation: Operation; epoch: number }>()
  /** A key on the request itself: each young key of a WeakMap costs the garbage collector. */
  const ARRIVED = Symbol('vinyasa.grpc-source.arrived')
  type Arrival = { [ARRIVED]?: number }
  let epoch = 0

  function begin(context: unknown, fresh: boolean): Operation {
    const request: Arrival | undefined = fresh ? undefined : requestOf(context)
    return sharingNothing(request?.[ARRIVED] ?? clock.now())
  }

  return {
    of(context, info) {
      const isEvent = info?.operation.operation === 'subscription'
      const scope = isEvent ? info.rootValue : context
      if (typeof scope !== 'object' || scope === null) return begin(context, isEvent)
      const known = ofScope.get(scope)
      if (known?.epoch === epoch) return known.operation
      const operation = known
        ? sharingNothing(known.operation.startedAt)
        : // A live query's later executions have the request of the first, which may be hours old.
          begin(context, isEvent || isLiveRun(context))
      ofScope.set(scope, { operation, epoch })
      return operation
    },
    arrived: (request: Arrival) => void (request[ARRIVED] = clock.now()),
    forget: () => void epoch++,
  }
}

/** The client's request, where the context has it. */
export function requestOf(context: unknown): object | undefined {
  const request =
    typeof context === 'object' && context !== null && 'request' in context ? context.request : undefined
  return typeof request === 'object' && request !== null ? request : undefined
}

function sharingNothing(startedAt: number): Operation {
  return { startedAt, replies: new Map() }
}

/**
 * Ends a call whose answer is no longer wanted: the context's own signal; that of the field, which in a deferred
 * fragment is the fragment's; the request's, whose client left. With it the answer itself, when it is given up; each event
 * of a subscription has one of its own.
 */
export function endOfCall(context: unknown, info: OperationInfo | undefined): Abortable | undefined {
  const own = typeof context === 'object' && context !== null ? (context as ContextSignals) : undefined
  const ofField = endingOf(info)
  if (ofField) return isSignal(own?.signal) ? own.signal : ofField
  const leaving = isSignal(own?.signal) ? own.signal : endingOf(own?.request)
  const isAlone = !info || info.isOneCall || info.operation.operation === 'subscription'
  return isAlone ? leaving : endOfRead(context, leaving)
}

interface ContextSignals {
  readonly signal?: unknown
  readonly request?: unknown
}
