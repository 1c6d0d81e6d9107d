import {
  above,
  boundedFetch,
  type Clock,
  type KnownOptions,
  refuseWrongOptions,
  systemClock,
  text,
  textsByName,
} from '@vinyasa/base'
import { withCredential, secretReader, type EnvironmentOptions, type SecretSource } from './credentials.ts'
import { restError } from '../errors.ts'
import type { CallInfo, RequestInterceptor } from './interceptor.ts'
import { setHeaders, type HeaderValues } from './set-headers.ts'

/** A token is replaced so long before it expires. */
const LEEWAY_MS = 30_000
/** An upstream that rejects every token causes at most one token request in this time. */
const RENEWAL_MS = 10_000
/** Limit in bytes of the token endpoint's response. Servers refuse longer headers than this. */
const MAX_BYTES = 64 * 1024

/** RFC 6749 §4.4. */
export interface OAuth2Options extends EnvironmentOptions {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: SecretSource
  readonly scope?: string | undefined
  /** Further parameters of the token request, for example `audience`. */
  readonly params?: Readonly<Record<string, string>> | undefined
  /** Milliseconds the token endpoint may take. Default 10,000. */
  readonly timeoutMs?: number | undefined
  /** Default: the platform's. */
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

/** Gets a token with client credentials, keeps it until it is about to expire or the upstream rejects it, and asks once for all who wait. */
export function oauth2ClientCredentials(options: OAuth2Options): RequestInterceptor {
  refuseWrongOptions('oauth2ClientCredentials', options, NAMES)
  const { tokenUrl, clientId, clientSecret, scope, params = {}, timeoutMs = 10_000 } = options
  const { fetch, clock = systemClock } = options
  const secret = secretReader(clientSecret, options)
  let token: Token | undefined
  let refresh: Promise<Token> | undefined
  /** The last header whose token the upstream rejected, and when the next one can be. */
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
      // The token is for everybody who waits: it does not end with the call that happened to ask first.
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!ok) throw new Error(`the token endpoint answered with status ${status}`)
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
      throw restError('SERVICE_UNAVAILABLE', 'No access token could be had for the upstream.', { cause })
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
  if (typeof value !== 'string') throw new Error('the token endpoint gave no access_token')
  // Without expires_in nobody knows: ask again soon.
  return { value, expiresAt: now + (typeof seconds === 'number' ? seconds : 60) * 1000 }
}
