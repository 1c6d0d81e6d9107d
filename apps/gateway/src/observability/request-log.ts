import { systemClock } from '@vinyasa/core'
import { lineWriterOf, quoted } from '../logging/line-writer.ts'
import type { Logger } from '../logging/logger.ts'
import type { ObserveBackendCall } from './backend-call.ts'
import type { Observer } from './recorder.ts'
import { recordedPath, recordOf, type RequestHead, type RequestRecord } from './request-record.ts'
import type { ResponseHead } from '@vinyasa/core/pipeline'
import { cacheReasonOf } from '@vinyasa/response-cache'

export interface RequestLogOptions {
  readonly logger: Logger
  /** Milliseconds; default the platform's. */
  readonly now?: (() => number) | undefined
  /** Names of members that the logger does not show. Default: none of a request's line. */
  readonly redact?: readonly string[] | undefined
  /** Paths of probes and scrapes, which are logged at `debug`. Default: none. */
  readonly quiet?: readonly string[] | undefined
}

/** One line. */
interface Line {
  readonly id: string
  readonly method: string
  readonly path: string
  operation?: string
  status?: number
  ms?: number
  cache?: string
  cacheReason?: string
  backendCalls?: number
  waitedFor?: readonly string[]
  errors?: readonly string[]
  /** As OpenTelemetry names them in logs. */
  trace_id?: string
  span_id?: string
}

const KEYS: ReadonlySet<string> = new Set<keyof Line>([
  'id',
  'method',
  'path',
  'operation',
  'status',
  'ms',
  'cache',
  'cacheReason',
  'backendCalls',
  'waitedFor',
  'errors',
  'trace_id',
  'span_id',
])

/**
 * One log line a request: id, operation, status, milliseconds, cache outcome, backend calls, codes of errors, and of a
 * request that is traced the ids of its trace and span. The id
 * goes back as the header `x-request-id`. Probes, and requests that are refused for load, are logged at `debug`. Requests
 * whose clients have left have the status 499; like those that a deadline ended, they name the sources that were waited for.
 */
export function createRequestLog(options: RequestLogOptions): Observer {
  const { logger: given, now = systemClock.now, redact = [] } = options
  const quiet = new Set(options.quiet)
  // No key of a line is the name of a secret: looking for one at each would cost more than the answer.
  const isPlain = !redact.some((name) => KEYS.has(name))
  const logger = isPlain ? given.child({}, { redact: [] }) : given
  const writeLine = isPlain ? lineWriterOf(given, 'request') : undefined

  function respond(
    record: RequestRecord,
    response: ResponseHead,
    request: RequestHead,
    isShed = false,
  ): void {
    const { id, operation, backendCalls, waitedFor, errorCodes } = record
    const path = recordedPath(record, request)
    const level = isShed || quiet.has(path) ? 'debug' : 'info'
    if (!logger.isLevelEnabled(level)) return
    const cache = response.headers.get('x-cache')
    const line: Line = { id, method: request.method, path }
    if (operation !== undefined) line.operation = operation
    line.status = response.status
    line.ms = Math.round((now() - record.startedAt) * 10) / 10
    if (cache !== null) line.cache = cache
    const reason = cache === null ? undefined : cacheReasonOf(request)
    if (reason !== undefined) line.cacheReason = reason
    if (operation !== undefined) line.backendCalls = backendCalls
    if (waitedFor && waitedFor.length > 0) line.waitedFor = [...new Set(waitedFor)]
    if (errorCodes) line.errors = [...errorCodes]
    const span = record.trace?.span.spanContext()
    // Without an SDK, spans have identifiers of zeros only.
    if (span && /[^0]/.test(span.traceId)) {
      const { traceId, spanId } = span
      line.trace_id = traceId
      line.span_id = spanId
    }
    if (writeLine) writeLine(level, membersOf(line))
    else logger[level](line, 'request')
  }

  return { response: respond }
}

/** The members of a line, in their order, as they stand in JSON behind others. */
function membersOf(line: Line): string {
  const { id, method, path, operation, status, ms, cache, cacheReason, backendCalls } = line
  const { waitedFor, errors, trace_id, span_id } = line
  let text = `,"id":${quoted(id)},"method":${quoted(method)},"path":${quoted(path)}`
  if (operation !== undefined) text += `,"operation":${quoted(operation)}`
  text += `,"status":${status},"ms":${ms}`
  if (cache !== undefined) text += `,"cache":${quoted(cache)}`
  if (cacheReason !== undefined) text += `,"cacheReason":${quoted(cacheReason)}`
  if (backendCalls !== undefined) text += `,"backendCalls":${backendCalls}`
  if (waitedFor) text += `,"waitedFor":${JSON.stringify(waitedFor)}`
  if (errors) text += `,"errors":${JSON.stringify(errors)}`
  return trace_id === undefined ? text : `${text},"trace_id":"${trace_id}","span_id":"${span_id}"`
}

/** Counts the calls that an operation's request made, and keeps the sources that it waits for. */
export const countBackendCalls: ObserveBackendCall = ({ source, context }) => {
  const record = recordOf(context)
  if (!record) return undefined
  record.backendCalls++
  const waitedFor = (record.waitedFor ??= [])
  waitedFor.push(source)
  return () => void waitedFor.splice(waitedFor.indexOf(source), 1)
}
