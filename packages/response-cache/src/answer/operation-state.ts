import type { OperationParams } from '@vinyasa/core/pipeline'
import type { DocumentProfile } from '../document/document-profile.ts'
import type { RequestKey } from '../document/request-key.ts'
import type { OperationReport } from '../http/cache-headers.ts'
import type { Ticket } from '../store/held-entries.ts'
import type { Flight } from './single-flight.ts'

/** One operation on its way through the server. */
export interface OperationState {
  readonly request: Request
  readonly params: OperationParams
  readonly context: Record<string, unknown>
  readonly report: OperationReport
  /** Runs the operation again under a context of its own; for background refreshes. */
  readonly refresh: (() => Promise<void>) | undefined
  /** No plugin looks at the result. */
  readonly isUnobserved?: boolean | undefined
  /** The same for all requests with the very same bytes, where they are told apart. */
  readonly sameBytes?: object | undefined
  /** This operation is such a refresh: it stores and is never answered from the cache. */
  readonly isRefresh: boolean
  profile?: DocumentProfile
  key?: RequestKey
  /** Set when the result is to be stored. */
  ticket?: Ticket
  flight?: Flight
}
