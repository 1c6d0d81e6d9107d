import { hasLeft } from '@vinyasa/core'
import type { ObserveBackendCall } from './backend-call.ts'
import type { OperationFacts } from './operation.ts'
import { createRecentErrors, errorsIn, type RecentError } from './recent-errors.ts'
import { CLIENT_LEFT, type Observer } from './recorder.ts'
import { recordedPath, recordOf } from './request-record.ts'

export interface CallCounts {
  readonly calls: number
  readonly failed: number
}

/** The activity of the gateway since it started. */
export interface ActivityReading {
  /** GraphQL requests over HTTP, and those of them that were answered with an error. */
  readonly requests: CallCounts
  /** Answers by outcome of the response cache, `hit`, `miss` and so on. */
  readonly cache: Readonly<Record<string, number>>
  /** By source. */
  readonly backends: Readonly<Record<string, CallCounts>>
  /** The last kinds. */
  readonly errors: readonly RecentError[]
  /** Number of errors of all kinds. */
  readonly errorCount: number
}

/** Counts for the status page, where figures must be at hand without a scraper. */
export interface Activity {
  readonly observer: Observer
  readonly observe: ObserveBackendCall
  read(): ActivityReading
}

/** `endpoint`: path of the GraphQL endpoint. */
export function createActivity(endpoint: string): Activity {
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
    observer: {
      // Over HTTP `result` hears of them, with their codes.
      refused(context, refusals, code) {
        if (recordOf(context)) return
        const coded = refusals.map(({ message, extensions }) => ({
          message,
          extensions: { code, ...extensions },
        }))
        errors.note({ errors: coded }, undefined)
      },
      operation(facts, context) {
        if (recordOf(context)) return undefined
        return (result) => {
          // Nobody reads what an operation answers whose request was abandoned, or whose live query was ended.
          if (!hasLeft(context)) errors.note(result, nameOf(facts))
        }
      },
      part: (facts, part) => errors.note(part, nameOf(facts)),
      result(record, result) {
        if (errorsIn(result).length === 0) return
        failed.add(record)
        errors.note(result, record.operation)
      },
      response(record, { status, headers }, request) {
        const isPage = headers.get('content-type')?.startsWith('text/html')
        if (isPage || !recordedPath(record, request).startsWith(endpoint)) return
        requests.calls++
        if ((failed.has(record) || status >= 400) && status !== CLIENT_LEFT) requests.failed++
        const outcome = headers.get('x-cache')?.toLowerCase()
        if (outcome !== undefined) cache.set(outcome, (cache.get(outcome) ?? 0) + 1)
      },
    },
  }
}

function nameOf({ type, name = type }: OperationFacts): string {
  return name
}
