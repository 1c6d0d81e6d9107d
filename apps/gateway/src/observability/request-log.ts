import { randomUUID } from 'node:crypto'
import type { Plugin } from 'graphql-yoga'
import { hasLeft } from '../http/left-clients.ts'
import type { Logger } from '../logger.ts'
import type { ObserveBackendCall } from './backend-call.ts'
import { errorCodesOf, operationOf } from './operation.ts'
import { isNotFromHttp } from './live-context.ts'
import { keepRecord, pathOf, recordOf } from './request-record.ts'

export interface RequestLogOptions {
  readonly logger: Logger
  /** Milliseconds; default `performance.now`. */
  readonly now?: (() => number) | undefined
  /** Default: a random UUID. */
  readonly newId?: (() => string) | undefined
}

/** What a client may send as its own request id; anything else is replaced, so log lines stay one line. */
const CLIENT_ID = /^[\w.:-]{1,128}$/

/**
 * One log line a request: id, operation, status, milliseconds, cache outcome, backend calls, codes of errors. The id
 * is the client's `x-request-id` or a new one, and goes back as a header. Probes are logged at `debug`. Requests whose
 * clients have left are marked so; those that were not executed are not logged.
 */
export function useRequestLog(options: RequestLogOptions): Plugin {
  const { logger, now = () => performance.now(), newId = randomUUID } = options
  return {
    onRequest({ request, serverContext }) {
      if (isNotFromHttp(serverContext)) return
      const sent = request.headers.get('x-request-id')
      const id = sent !== null && CLIENT_ID.test(sent) ? sent : newId()
      keepRecord(serverContext, { id, startedAt: now(), backendCalls: 0, errorCodes: new Set() })
    },
    onExecute({ args }) {
      noteOperation(args)
    },
    onSubscribe({ args }) {
      noteOperation(args)
    },
    onExecutionResult({ context, result }) {
      const record = recordOf(context)
      if (!record || !result) return
      for (const one of Array.isArray(result) ? result : [result]) {
        for (const code of errorCodesOf(one)) record.errorCodes.add(code)
      }
    },
    onResponse({ request, response, serverContext }) {
      const record = recordOf(serverContext)
      if (!record) return
      const left = hasLeft(serverContext)
      if (left && record.operation === undefined) return
      response.headers.set('x-request-id', record.id)
      const path = pathOf(request.url)
      const level = isProbe(path) ? 'debug' : 'info'
      if (!logger.isLevelEnabled(level)) return
      const cache = response.headers.get('x-cache')
      logger[level](
        {
          id: record.id,
          method: request.method,
          path,
          ...(record.operation !== undefined && { operation: record.operation }),
          status: response.status,
          ms: Math.round((now() - record.startedAt) * 10) / 10,
          ...(cache !== null && { cache }),
          ...(record.operation !== undefined && { backendCalls: record.backendCalls }),
          // What fails because nobody waits for it any more is no error.
          ...(left ? { left } : record.errorCodes.size > 0 && { errors: [...record.errorCodes] }),
        },
        'request',
      )
    },
  }
}

/** Counts the calls that an operation's request made. */
export const countBackendCalls: ObserveBackendCall = ({ context }) => {
  const record = recordOf(context)
  if (record) record.backendCalls++
  return undefined
}

function noteOperation(args: {
  readonly document: Parameters<typeof operationOf>[0]
  readonly operationName?: unknown
  readonly contextValue?: unknown
}): void {
  const record = recordOf(args.contextValue)
  if (!record) return
  const { type, name } = operationOf(args.document, args.operationName)
  record.operation = name ?? type
}

function isProbe(path: string): boolean {
  return path.startsWith('/health/') || path === '/metrics'
}
