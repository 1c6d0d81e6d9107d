import type { Context } from '@opentelemetry/api'

/** What is known of one HTTP request while it is served. */
export interface RequestRecord {
  readonly id: string
  readonly startedAt: number
  operation?: string | undefined
  /** Requests and RPCs sent to backends so far. */
  backendCalls: number
  /** Codes of the errors in the answer, each once. */
  readonly errorCodes: Set<string>
  /** Where spans of this request hang, when it is traced. */
  trace?: Context | undefined
}

const RECORD = Symbol('vinyasa.request')

/**
 * Yoga's server context is the GraphQL context of a request, or its prototype in a batch; a request object would not
 * do as the key, since a plugin may put another one in its place.
 */
export function keepRecord(serverContext: object, record: RequestRecord): void {
  Object.defineProperty(serverContext, RECORD, { value: record })
}

/** Undefined for operations that came by another way than HTTP. */
export function recordOf(context: unknown): RequestRecord | undefined {
  return typeof context === 'object' && context !== null
    ? (context as { [RECORD]?: RequestRecord })[RECORD]
    : undefined
}

/** The path without the query string, which may hold variables. */
export function pathOf(url: string): string {
  return PLAIN_PATH.exec(url)?.[1] ?? new URL(url, 'http://localhost').pathname
}

/** A path in which a URL finds nothing to write otherwise. */
const PLAIN_PATH = /^https?:\/\/[^/?#\\]+((?:\/[\w-]*)+)(?:$|\?)/
