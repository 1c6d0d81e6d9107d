import { GraphQLError } from 'graphql'
import type { HttpMethod } from '../http/http-method.ts'
import { restError } from '../errors.ts'
import { checkedHeader } from '../templates/header-template.ts'
import type { CallInfo, RequestInterceptor } from '../interceptors/interceptor.ts'
import type { Home, WireRequest } from '../http/transport.ts'
import { isStreamed } from '../bodies/wire-body.ts'

export interface PrepareSettings extends Home {
  readonly interceptors: readonly RequestInterceptor[]
  readonly allowOriginChange: boolean
}

/** Lets the interceptors work on a request and holds the outcome against the base URL. */
export async function prepare(
  request: WireRequest,
  info: CallInfo,
  settings: PrepareSettings,
): Promise<WireRequest> {
  const { interceptors, allowOriginChange } = settings
  if (interceptors.length === 0) return request
  const { base, basePath } = request.home ?? settings
  const outgoing = {
    method: request.method as HttpMethod,
    url: new URL(request.path, base.origin),
    headers: new Headers(request.headers),
    body: isStreamed(request.body) ? undefined : request.body,
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
    ...(url.origin !== settings.base.origin && { origin: url.origin }),
    path: url.pathname + url.search,
    headers,
    body: outgoing.body ?? (isStreamed(request.body) ? request.body : undefined),
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
