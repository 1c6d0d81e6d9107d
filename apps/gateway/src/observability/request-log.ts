import { randomUUID } from 'node:crypto'
import type { Plugin } from 'graphql-yoga'
import type { Logger } from '../logger.ts'

export interface RequestLogOptions {
  readonly logger: Logger
  /** Milliseconds; default `performance.now`. */
  readonly now?: (() => number) | undefined
  /** Default: a random UUID. */
  readonly newId?: (() => string) | undefined
}

interface RequestRecord {
  readonly id: string
  readonly startedAt: number
  operation?: string | undefined
}

/** What a client may send as its own request id; anything else is replaced, so log lines stay one line. */
const CLIENT_ID = /^[\w.:-]{1,128}$/

/**
 * One log line a request: id, operation, status, milliseconds, cache outcome. The id is the client's `x-request-id`
 * or a new one, and goes back as a header. Probes are logged at `debug`.
 */
export function useRequestLog(options: RequestLogOptions): Plugin {
  const { logger, now = () => performance.now(), newId = randomUUID } = options
  const records = new WeakMap<Request, RequestRecord>()
  return {
    onRequest({ request }) {
      const sent = request.headers.get('x-request-id')
      const id = sent !== null && CLIENT_ID.test(sent) ? sent : newId()
      records.set(request, { id, startedAt: now() })
    },
    onParams({ request, params }) {
      const record = records.get(request)
      if (record) record.operation = params.operationName ?? undefined
    },
    onExecute({ args }) {
      const record = records.get(args.contextValue.request)
      if (record) record.operation ??= operationName(args)
    },
    onResponse({ request, response }) {
      const record = records.get(request)
      if (!record) return
      response.headers.set('x-request-id', record.id)
      const path = pathOf(request.url)
      const level = path.startsWith('/health/') ? 'debug' : 'info'
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
        },
        'request',
      )
    },
  }
}

function operationName(args: {
  operationName?: unknown
  document: { definitions: readonly object[] }
}): string | undefined {
  for (const definition of args.document.definitions) {
    if (!('operation' in definition)) continue
    const { name, operation } = definition as { name?: { value: string }; operation: string }
    return name?.value ?? operation
  }
  return undefined
}

/** The path without the query string, which may hold variables. */
function pathOf(url: string): string {
  return new URL(url, 'http://localhost').pathname
}
