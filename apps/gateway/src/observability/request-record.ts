import type { Context, Span } from '@opentelemetry/api'
import { createAttachment } from '@vinyasa/core'
import type { CallEnded } from '@vinyasa/source-kit'
import type { BackendCallEnd } from './backend-call.ts'
import { pathnameOf } from '../http/pathname.ts'

/** Facts about one HTTP request while it is served. */
export interface RequestRecord {
  readonly id: string
  readonly startedAt: number
  operation?: string | undefined
  /** Requests and RPCs sent to backends so far. */
  backendCalls: number
  /** Sources of the calls that have not ended; undefined: there was no call. */
  waitedFor: string[] | undefined
  /** Its end is recorded; nothing else about it is. */
  hasEnded: boolean
  /** Codes of the errors in the answer, each once; undefined: none so far. */
  errorCodes: Set<string> | undefined
  /** The path without the query string; undefined until somebody asks. */
  path: string | undefined
  /** The span of this request, when it is traced. */
  trace?: TracePlace | undefined
}

export type RequestHead = Pick<Request, 'method' | 'url'>

/** A place in a trace. */
export interface TracePlace {
  readonly span: Span
  /** The parent of spans below it; undefined: the sampler dropped the request, and there are none. */
  readonly below: Context | undefined
  /** The span is not an instrumentation's, who ends it. Default false. */
  readonly isOurs?: boolean | undefined
  /** What goes with calls from here where the sampler dropped the request, once there was one. */
  dropped?: CallEnded<BackendCallEnd> | undefined
}

/** A copy of a context has none. */
const records = createAttachment<RequestRecord>()

/**
 * Yoga's server context is the GraphQL context of a request, or its prototype in a batch; a request object would not
 * do as the key, since a plugin may put another one in its place.
 */
export function keepRecord(serverContext: object, record: RequestRecord): void {
  const { res } = serverContext as { readonly res?: object }
  if (res) records.set(res, record)
  records.set(serverContext, record)
}

/** Undefined for operations that came by another way than HTTP. */
export function recordOf(context: unknown): RequestRecord | undefined {
  if (typeof context !== 'object' || context === null) return undefined
  return records.get(context) ?? recordOf(Object.getPrototypeOf(context))
}

/** The path of a record's request. */
export function recordedPath(record: RequestRecord, request: RequestHead): string {
  return (record.path ??= pathnameOf(request.url))
}
