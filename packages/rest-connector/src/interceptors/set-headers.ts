import type { CallInfo, ReadsHeaders, RequestInterceptor } from './interceptor.ts'

/** Returns the headers to set on an attempt, by name. */
export interface HeaderSource extends ReadsHeaders {
  (info: CallInfo): HeaderValues | Promise<HeaderValues>
}

/** Values by header name, case-insensitive. Only own properties are used. @see RFC 9110 §5 */
export type HeaderValues = Readonly<Record<string, string>>

/** Keyed by identity: a wrapper of an interceptor is not in the map, because it can do more than set headers. */
const sources = new WeakMap<RequestInterceptor, HeaderSource>()

/**
 * Creates an interceptor that only sets headers. Values are trimmed, as in fetch's `Headers`. Requests skip the `URL` and
 * `Headers` objects if all interceptors of a connector are created by this function.
 */
export function setHeaders(source: HeaderSource): RequestInterceptor {
  const interceptor: RequestInterceptor = async ({ headers }, info) => {
    for (const [name, value] of Object.entries(await source(info))) headers.set(name, value)
  }
  sources.set(interceptor, source)
  return Object.assign(interceptor, { readsHeaders: source.readsHeaders })
}

/** Returns the interceptors' header sources in order, or undefined if an interceptor can do more than set headers. */
export function headerSourcesOf(
  interceptors: readonly RequestInterceptor[],
): readonly HeaderSource[] | undefined {
  const found = interceptors.map((interceptor) => sources.get(interceptor))
  return found.every((source) => source !== undefined) ? found : undefined
}
