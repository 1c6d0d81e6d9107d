import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { ObserveBackendCall } from './backend-call.ts'
import { operationOf } from './operation.ts'
import { createRecentErrors, errorsIn, type ErrorLike, type RecentError } from './recent-errors.ts'
import { recordedPath, recordOf } from './request-record.ts'
import type { ShortResponse } from '@vinyasa/node-handler'
import { withShortWay } from '../short-way.ts'

export interface CallCounts {
  readonly calls: number
  readonly failed: number
}

/** What the gateway has done since it started. */
export interface ActivityReading {
  /** GraphQL requests over HTTP, and those of them that were answered with an error. */
  readonly requests: CallCounts
  /** Answers by outcome of the response cache, `hit`, `miss` and so on. */
  readonly cache: Readonly<Record<string, number>>
  /** By source. */
  readonly backends: Readonly<Record<string, CallCounts>>
  /** The last kinds. */
  readonly errors: readonly RecentError[]
  /** Of all kinds. */
  readonly errorCount: number
}

/** Counts for the status page, where figures must be at hand without a scraper. */
export interface Activity {
  readonly plugin: Plugin
  readonly observe: ObserveBackendCall
  read(): ActivityReading
}

export interface ActivityOptions {
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string
}

export function createActivity({ endpoint }: ActivityOptions): Activity {
  const errors = createRecentErrors()
  const cache = new Map<string, number>()
  const backends = new Map<string, { calls: number; failed: number }>()
  const requests = { calls: 0, failed: 0 }
  const failed = new WeakSet<object>()

  function backend(source: string): { calls: number; failed: number } {
    const known = backends.get(source) ?? { calls: 0, failed: 0 }
    backends.set(source, known)
    return known
  }

  /** Over HTTP `onExecutionResult` sees them, with their codes. */
  function noteRefused(context: object, refusals: readonly ErrorLike[], code: string): void {
    if (recordOf(context)) return
    const coded = refusals.map(({ message, extensions }) => ({
      message,
      extensions: { code, ...extensions },
    }))
    errors.note({ errors: coded }, undefined)
  }

  function noteFailed(request: Request, context: unknown, result: unknown): void {
    const record = recordOf(context)
    if (!record || !result || isAsyncIterable(result)) return
    for (const one of Array.isArray(result) ? result : [result]) {
      // What is said to a client that has left is no answer.
      if (errorsIn(one).length === 0 || request.signal.aborted) continue
      failed.add(record)
      errors.note(one, record.operation)
    }
  }

  function respond(request: Request, response: ShortResponse, context: object): void {
    const record = recordOf(context)
    const isPage = response.headers.get('content-type')?.startsWith('text/html')
    if (!record || isPage || !recordedPath(record, request).startsWith(endpoint)) return
    requests.calls++
    if ((failed.has(record) || response.status >= 400) && !request.signal.aborted) requests.failed++
    const outcome = response.headers.get('x-cache')?.toLowerCase()
    if (outcome !== undefined) cache.set(outcome, (cache.get(outcome) ?? 0) + 1)
  }

  return {
    read: () => ({
      requests: { ...requests },
      cache: Object.fromEntries(cache),
      backends: Object.fromEntries([...backends].map(([name, counts]) => [name, { ...counts }])),
      errors: errors.list(),
      errorCount: errors.total(),
    }),
    observe({ source }) {
      const counts = backend(source)
      counts.calls++
      return (end) => {
        if (end.failed) counts.failed++
      }
    },
    plugin: withShortWay(
      {
        onParse:
          ({ context }) =>
          ({ result }) => {
            if (result instanceof Error) noteRefused(context, [result], 'GRAPHQL_PARSE_FAILED')
          },
        onValidate:
          ({ context }) =>
          ({ valid, result }) => {
            if (!valid) noteRefused(context, result, 'GRAPHQL_VALIDATION_FAILED')
          },
        onExecute({ args }) {
          const { type, name = type } = operationOf(args.document, args.operationName)
          const overHttp = recordOf(args.contextValue) !== undefined
          return {
            onExecuteDone({ result }) {
              if (isAsyncIterable(result)) return { onNext: (part) => errors.note(part.result, name) }
              if (!overHttp && !hasLeft(args.contextValue)) errors.note(result, name)
              return undefined
            },
          }
        },
        onSubscribe({ args }) {
          const { type, name = type } = operationOf(args.document, args.operationName)
          return { onSubscribeResult: () => ({ onNext: ({ result }) => errors.note(result, name) }) }
        },
        // What was refused before it was an operation comes here too, as on the short way all that has errors does.
        onResultProcess: ({ request, serverContext, result }) => noteFailed(request, serverContext, result),
        onResponse: ({ request, response, serverContext }) => respond(request, response, serverContext),
      },
      {
        respond: ({ request, context }, response) => respond(request, response, context),
        onPart({ operation: { definition } }, part) {
          errors.note(part, definition.name?.value ?? definition.operation)
        },
      },
    ),
  }
}

/** Nobody reads what an operation answers whose request was abandoned, or whose live query was ended. */
function hasLeft(context: unknown): boolean {
  return (context as { readonly request?: Request } | undefined)?.request?.signal.aborted ?? false
}
