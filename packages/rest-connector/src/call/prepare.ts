import { after, attempt, type MaybePromise } from '@vinyasa/core'
import { GraphQLError } from 'graphql'
import type { HttpMethod } from '../http/http-method.ts'
import { restError } from '../errors.ts'
import { isHeaderName, isHeaderValue } from '../templates/header-template.ts'
import type { CallInfo, RequestInterceptor } from '../interceptors/interceptor.ts'
import type { HeaderSource, HeaderValues } from '../interceptors/set-headers.ts'
import { isInside, type Home, type WireRequest } from '../http/transport.ts'
import { isStreamed } from '../bodies/wire-body.ts'

export interface PrepareSettings extends Home {
  readonly interceptors: readonly RequestInterceptor[]
  /** The same, where they do nothing but set headers. */
  readonly headerSources: readonly HeaderSource[] | undefined
  readonly allowOriginChange: boolean
}

/** Lets the interceptors work on a request and checks that the result is inside the endpoint's base URL. `infoOf`: for them. */
export function prepare(
  request: WireRequest,
  infoOf: () => CallInfo,
  home: Home | undefined,
  settings: PrepareSettings,
): MaybePromise<WireRequest> {
  const { interceptors, headerSources } = settings
  if (interceptors.length === 0) return request
  const info = infoOf()
  return headerSources
    ? withHeaders(request, info, headerSources)
    : intercepted(request, info, home ?? settings, settings)
}

/** Without a promise where no source gives one. */
function withHeaders(
  request: WireRequest,
  info: CallInfo,
  sources: readonly HeaderSource[],
): MaybePromise<WireRequest> {
  const headers = { ...request.headers }
  const from = (index: number): MaybePromise<WireRequest> => {
    const source = sources[index]
    if (!source) return { ...request, headers }
    return after(source(info), (given) => {
      setAll(headers, given)
      return from(index + 1)
    })
  }
  return attempt(
    () => from(0),
    (cause) => {
      throw notPrepared(cause, info)
    },
  )
}

function setAll(headers: Record<string, string>, values: HeaderValues): void {
  for (const name of Object.keys(values)) {
    if (!isHeaderName(name)) throw new TypeError(`"${name}" is not a valid header name`)
    // `Headers` make a string of any other value, too.
    headers[name.toLowerCase()] = checked(name, trimmed(`${values[name]}`))
  }
}

function checked(name: string, value: string): string {
  if (!isHeaderValue(value))
    throw new TypeError(
      `the value of header "${name}" contains a control character or a character outside Latin-1`,
    )
  return value
}

/** Fetch's `normalize`: a token that was read from a file ends in a line break. */
function trimmed(value: string): string {
  const isPlain = value.charCodeAt(0) > 0x20 && value.charCodeAt(value.length - 1) > 0x20
  return isPlain ? value : value.replaceAll(/^[\t\n\r ]+|(?<![\t\n\r ])[\t\n\r ]+$/g, '')
}

async function intercepted(
  request: WireRequest,
  info: CallInfo,
  home: Home,
  settings: PrepareSettings,
): Promise<WireRequest> {
  const { interceptors, allowOriginChange } = settings
  const outgoing = {
    method: request.method as HttpMethod,
    url: new URL(request.path, home.base.origin),
    headers: new Headers(request.headers),
    body: isStreamed(request.body) ? undefined : request.body,
  }
  const headers: Record<string, string> = {}
  try {
    for (const intercept of interceptors) await intercept(outgoing, info)
    for (const [name, value] of outgoing.headers) headers[name] = checked(name, value)
  } catch (cause) {
    throw notPrepared(cause, info)
  }

  const { url } = outgoing
  if (!isInside(url, home) && !allowOriginChange)
    throw restError(
      'INTERNAL_SERVER_ERROR',
      'The request to the upstream was not sent, because its URL is outside the base URL.',
      {
        cause: new Error(
          `An interceptor of REST connector "${info.connector}" changed the request to a URL outside the base URL; ` +
            `set allowOriginChange: true to allow such URLs.`,
        ),
      },
    )
  return {
    method: outgoing.method,
    ...(url.origin !== settings.base.origin && { origin: url.origin }),
    path: url.pathname + url.search,
    headers,
    body: outgoing.body ?? (isStreamed(request.body) ? request.body : undefined),
  }
}

/** Returns the error for what an interceptor threw, as the client may see it. */
function notPrepared(cause: unknown, info: CallInfo): unknown {
  if (cause instanceof GraphQLError || info.signal.aborted) return cause
  // The message of a refused header holds its value: it must not reach a client.
  return restError('INTERNAL_SERVER_ERROR', 'The request to the upstream could not be prepared.', { cause })
}
