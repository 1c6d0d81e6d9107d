import type { CallInfo, ReadsHeaders, RequestInterceptor } from './interceptor.ts'

/** Gives the headers to set on an attempt, by name. */
export interface HeaderSource extends ReadsHeaders {
  (info: CallInfo): HeaderValues | Promise<HeaderValues>
}

/** Values by header name, in any case; its own members count. @see RFC 9110 §5 */
export type HeaderValues = Readonly<Record<string, string>>

/** A wrapper of an interceptor is another interceptor, and may do anything. */
const sources = new WeakMap<RequestInterceptor, HeaderSource>()

/**
 * An interceptor that sets headers and does nothing else; values are trimmed, as fetch's `Headers` do. Where all of a
 * connector's interceptors are of this kind, a request is spared the `URL` and `Headers` that others work on.
 */
export function setHeaders(source: HeaderSource): RequestInterceptor {
  const interceptor: RequestInterceptor = async ({ headers }, info) => {
    for (const [name, value] of Object.entries(await source(info))) headers.set(name, value)
  }
  sources.set(interceptor, source)
  return Object.assign(interceptor, { readsHeaders: source.readsHeaders })
}

/** Returns the interceptors' header sources, in order; undefined where one may do more than set headers. */
export function headerSourcesOf(
  interceptors: readonly RequestInterceptor[],
): readonly HeaderSource[] | undefined {
  const found = interceptors.map((interceptor) => sources.get(interceptor))
  return found.every((source) => source !== undefined) ? found : undefined
}
