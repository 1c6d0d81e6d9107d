import { GraphQLError } from 'graphql'
import type { HttpMethod } from '../http/http-method.ts'
import { restError } from '../errors.ts'
import { checkedHeader } from '../templates/header-template.ts'
import type { CallInfo, RequestInterceptor } from '../http/interceptor.ts'
import type { WireRequest } from '../http/transport.ts'

export interface PrepareSettings {
  readonly base: URL
  /** The base URL's path without a trailing slash. */
  readonly basePath: string
  readonly interceptors: readonly RequestInterceptor[]
  readonly allowOriginChange: boolean
}

/** Lets the interceptors work on a request and holds the outcome against the base URL. */
export async function prepare(
  request: WireRequest,
  info: CallInfo,
  { base, basePath, interceptors, allowOriginChange }: PrepareSettings,
): Promise<WireRequest> {
  if (interceptors.length === 0) return request
  const outgoing = {
    method: request.method as HttpMethod,
    url: new URL(request.path, base.origin),
    headers: new Headers(request.headers),
    body: request.body,
  }
  for (const intercept of interceptors) await runOne(intercept, outgoing, info)

  const { url } = outgoing
  const isInside =
    url.origin === base.origin && (url.pathname === basePath || url.pathname.startsWith(`${basePath}/`))
  if (!isInside && !allowOriginChange)
    throw restError('INTERNAL_SERVER_ERROR', 'The request was led elsewhere.', {
      cause: new Error(
        `An interceptor of REST connector "${info.connector}" led the request outside its base URL; ` +
          `set allowOriginChange if that is meant.`,
      ),
    })
  const headers: Record<string, string> = {}
  for (const [name, value] of outgoing.headers) headers[name] = checkedHeader(name, value)
  return {
    method: outgoing.method,
    ...(url.origin !== base.origin && { origin: url.origin }),
    path: url.pathname + url.search,
    headers,
    body: outgoing.body,
  }
}

async function runOne(
  intercept: RequestInterceptor,
  outgoing: Parameters<RequestInterceptor>[0],
  info: CallInfo,
): Promise<void> {
  try {
    await intercept(outgoing, info)
  } catch (cause) {
    if (cause instanceof GraphQLError || info.signal.aborted) throw cause
    // The message of a refused header holds its value: it must not reach a client.
    throw restError('INTERNAL_SERVER_ERROR', 'The request could not be prepared.', { cause })
  }
}
