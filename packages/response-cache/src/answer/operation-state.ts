import type { OperationParams } from '@vinyasa/core/pipeline'
import type { DocumentProfile } from '../document/document-profile.ts'
import type { RequestKey } from '../document/request-key.ts'
import type { OperationReport } from '../http/cache-headers.ts'
import type { Ticket } from '../store/entries.ts'
import type { Flight } from './single-flight.ts'

/** The state of one operation in the cache. */
export interface OperationState {
  readonly request: Request
  readonly params: OperationParams
  readonly context: Record<string, unknown>
  readonly report: OperationReport
  /** Re-executes the operation in the background with a separate context. */
  readonly refresh: (() => Promise<void>) | undefined
  /** Whether no plugin reads the result. */
  readonly isUnobserved?: boolean | undefined
  /** An object that all requests with equal bytes share. */
  readonly sameBytes?: object | undefined
  /** Whether this operation is a background refresh. Its result is stored, and the cache does not answer it. */
  readonly isRefresh: boolean
  profile?: DocumentProfile
  key?: RequestKey
  /** Set if the result is to be stored. */
  ticket?: Ticket
  flight?: Flight
}
