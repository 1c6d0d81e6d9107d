import type { RecordedCall, RecordedRequest } from '@vinyasa/test-kit'
import type { Drawn, Row } from './feature.ts'
import type { KnownAsked } from './known.ts'
import type { Operation } from './operations.ts'
import type { Reference } from './reference.ts'
import type { Shelves } from './library.ts'
import type { User } from './users.ts'

/** How an operation is sent. */
export type Way = 'post' | 'get' | 'batch' | 'id' | 'id by get' | 'apq' | 'hash' | 'multipart'

/** A GraphQL answer, whatever carried it. */
export interface Answer {
  readonly data?: unknown
  readonly errors?: readonly {
    readonly message: string
    readonly path?: readonly (string | number)[]
    readonly extensions?: Readonly<Record<string, unknown>>
  }[]
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** One operation of a request. */
export interface Asked {
  readonly operation: Operation
  /** The states of the shelves that its answer may show: from this one on, which was answered before, … */
  readonly from: number
  /** … to this one, which the backends had when the answer was there. */
  readonly to: number
  readonly answer: Answer
}

/** One HTTP request to the GraphQL endpoint, and its answer. */
export interface Sent {
  /** Its `x-request-id`. */
  readonly id: string
  readonly user: User
  readonly way: Way
  /** With the query, of a GET. */
  readonly target: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly operations: readonly Asked[]
  readonly status: number
  readonly answerHeaders: Headers
  /** A batch was refused with one answer. */
  readonly isRefusedWhole: boolean
  /** It asked for what the gateway could not know yet (a hash without its text). */
  readonly isProbe: boolean
}

/** How the process ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly ms: number
  /** Whether something still listens on its port. */
  readonly isListening: boolean
  /** Whether one of the processes is left that its launcher began. */
  readonly isLeft: boolean
  /** The answer to what was under way; undefined: there was none. */
  readonly underWay: Answer | undefined
}

/** All that was seen of a row. */
export interface Run {
  readonly row: Row
  readonly drawn: readonly Drawn[]
  readonly reference: Reference
  readonly states: readonly Shelves[]
  readonly sent: readonly Sent[]
  /** The same through the second gateway, of which no feature's observer counts anything. */
  readonly sentElsewhere: readonly Sent[]
  readonly beside: Readonly<Beside>
  /** What was asked again when all was known. */
  readonly known: readonly KnownAsked[]
  /** What the process wrote, by lines. */
  readonly lines: readonly string[]
  /** What it had written when it was ready. */
  readonly linesAtStart: readonly string[]
  /** What `vinyasa check` wrote, and how it ended. */
  readonly check: { readonly code: number | null; readonly output: string } | undefined
  readonly grpcCalls: readonly RecordedCall[]
  readonly restRequests: readonly RecordedRequest[]
  readonly ending: Ending
  /** What features have said while it went on, by their names. */
  readonly said: readonly { readonly feature: string; readonly what: string }[]
  /** What features have kept for their observers, by names of their own. */
  readonly kept: ReadonlyMap<string, unknown>
  readonly folder: string
  /** Of the GraphQL endpoint. */
  readonly path: string
}

/** What features have sent by ways of their own. */
export interface Beside {
  /** Requests over HTTP to the GraphQL endpoint, answered with 200. */
  requests: number
  /** Queries that were executed. */
  queries: number
  mutations: number
  /** Queries whose connection ended before an answer, so that nobody knows whether they were executed. */
  unheard: number
  /** Live queries that the gateway ended. A run that had begun is not executed then. */
  endedLive: number
  /** Requests that the cache let pass. */
  bypassed: number
  /** Statuses of requests that asked for nothing which the judge knows. */
  readonly statuses: string[]
  /** Codes of the errors in what they were answered. */
  readonly codes: string[]
}

export type BesideCount = 'requests' | 'queries' | 'mutations' | 'unheard' | 'endedLive' | 'bypassed'

/** Where a rule was broken. */
export interface Violation {
  /** What is the same when the same is found again: the rule, not its values. */
  readonly rule: string
  readonly what: string
}
