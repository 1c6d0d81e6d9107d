import {
  above,
  boundedFetch,
  type Clock,
  type KnownOptions,
  refuseWrongOptions,
  systemClock,
  text,
  textsByName,
} from '@vinyasa/core'
import { withCredential, secretReader, type EnvironmentOptions, type SecretSource } from './credentials.ts'
import { restError } from '../errors.ts'
import type { CallInfo, RequestInterceptor } from './interceptor.ts'
import { setHeaders, type HeaderValues } from './set-headers.ts'

/** A token is replaced this long before it expires. */
const LEEWAY_MS = 30_000
/** An upstream that rejects every token causes at most one token request in this time. */
const RENEWAL_MS = 10_000
/** Maximum bytes of the token endpoint's response. Servers refuse longer headers than this. */
const MAX_BYTES = 64 * 1024

/** RFC 6749 §4.4. */
export interface OAuth2Options extends EnvironmentOptions {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: SecretSource
  readonly scope?: string | undefined
  /** Further parameters of the token request, for example `audience`. */
  readonly params?: Readonly<Record<string, string>> | undefined
  /** Timeout of the token endpoint in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined
  /** Sends the token request. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly clock?: Clock | undefined
}

const NAMES: KnownOptions<OAuth2Options> = {
  env: textsByName,
  tokenUrl: text,
  clientId: text,
  clientSecret: true,
  scope: text,
  params: textsByName,
  timeoutMs: above(0),
  fetch: true,
  clock: true,
}

interface Token {
  readonly value: string
  readonly expiresAt: number
}

/**
 * Creates an interceptor that adds a token from the client credentials grant. It reuses the token until shortly before it
 * expires or until the upstream rejects it. Concurrent calls share one token request.
 */
export function oauth2ClientCredentials(options: OAuth2Options): RequestInterceptor {
  refuseWrongOptions('oauth2ClientCredentials', options, NAMES)
  const { tokenUrl, clientId, clientSecret, scope, params = {}, timeoutMs = 10_000 } = options
  const { fetch, clock = systemClock } = options
  const secret = secretReader(clientSecret, options)
  let token: Token | undefined
  let refresh: Promise<Token> | undefined
  /** The header with the last rejected token, and the time at which the next token can be rejected. */
  let rejected: string | undefined
  let renewableAt = -Infinity

  async function request(info: CallInfo): Promise<Token> {
    const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(await secret(info))}`
    const { ok, status, bytes } = await boundedFetch(tokenUrl, {
      method: 'POST',
      accept: 'application/json',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }), ...params }),
      maxBytes: MAX_BYTES,
      maxRedirects: 0,
      fetch,
      // All waiting calls share the token, so the request must not end with the call that started it.
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!ok) throw new Error(`the token endpoint responded with status ${status}`)
    return parseToken(JSON.parse(new TextDecoder().decode(bytes)), clock.now())
  }

  async function next(info: CallInfo): Promise<Token> {
    refresh ??= request(info).finally(() => {
      refresh = undefined
    })
    try {
      token = await refresh
      return token
    } catch (cause) {
      throw restError('SERVICE_UNAVAILABLE', 'The access token for the upstream could not be obtained.', {
        cause,
      })
    }
  }

  const headerOf = ({ value }: Token): string => `Bearer ${value}`
  const bearing = (one: Token): HeaderValues => ({ authorization: headerOf(one) })

  function onUnauthorized({ authorization }: Readonly<Record<string, string>>): boolean {
    const isCurrent = token !== undefined && authorization === headerOf(token)
    if (!isCurrent) return authorization !== undefined && authorization === rejected
    if (clock.now() < renewableAt) return false
    renewableAt = clock.now() + RENEWAL_MS
    rejected = authorization
    token = undefined
    return true
  }

  const interceptor = setHeaders((info) =>
    token && clock.now() < token.expiresAt - LEEWAY_MS ? bearing(token) : next(info).then(bearing),
  )
  return withCredential(
    Object.assign(interceptor, { onUnauthorized }),
    clientSecret,
    options,
    tokenUrl,
    clientId,
    scope,
  )
}

function parseToken(body: unknown, now: number): Token {
  const { access_token: value, expires_in: seconds } = (body ?? {}) as Record<string, unknown>
  if (typeof value !== 'string')
    throw new Error('the response of the token endpoint has no string access_token')
  // Renew the token soon if `expires_in` is missing.
  return { value, expiresAt: now + (typeof seconds === 'number' ? seconds : 60) * 1000 }
}
