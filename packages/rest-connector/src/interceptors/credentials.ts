import { createHash } from 'node:crypto'
import { after } from '@vinyasa/core'
import { RestConfigError } from '../errors.ts'
import type { CallInfo, ReadsHeaders, RequestInterceptor } from './interceptor.ts'
import { setHeaders, type HeaderValues } from './set-headers.ts'

/**
 * A secret: its value, the name of an environment variable, or a function that returns it for each attempt. `readsHeaders` on
 * the function declares the client headers that it reads, as on an interceptor.
 */
export type SecretSource = string | { readonly env: string } | SecretFunction

export interface SecretFunction extends ReadsHeaders {
  (info: CallInfo): string | Promise<string>
}

export interface EnvironmentOptions {
  /** Environment variables. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

export interface ApiKeyOptions extends EnvironmentOptions {
  /** The header name. Default `X-API-Key`. */
  readonly header?: string | undefined
}

/**
 * Creates an interceptor that adds `Authorization: Bearer <token>`.
 * @throws RestConfigError if the environment variable is not set
 */
export function bearer(token: SecretSource, options: EnvironmentOptions = {}): RequestInterceptor {
  return secretHeader(token, options, (value) => ({ authorization: `Bearer ${value}` }))
}

/** Creates an interceptor that adds `X-API-Key: <key>`. @throws RestConfigError if the environment variable is not set */
export function apiKey(key: SecretSource, options: ApiKeyOptions = {}): RequestInterceptor {
  const { header = 'X-API-Key' } = options
  return secretHeader(key, options, (value) => ({ [header]: value }), header)
}

function secretHeader(
  secret: SecretSource,
  options: EnvironmentOptions,
  headersWith: (value: string) => HeaderValues,
  ...account: readonly string[]
): RequestInterceptor {
  const read = secretReader(secret, options)
  const interceptor = setHeaders((info) => after(read(info), headersWith))
  return withCredential(interceptor, secret, options, ...account)
}

export function secretReader(
  source: SecretSource,
  { env = process.env }: EnvironmentOptions,
): (info: CallInfo) => string | Promise<string> {
  if (typeof source === 'function') return source
  if (typeof source === 'string') return () => source
  const value = env[source.env]
  if (!value)
    throw new RestConfigError(
      `environment variable ${source.env} is missing or empty; set it to the credential`,
    )
  return () => value
}

/**
 * Marks an interceptor with the client headers that its secret reads. Only a secret that is a function can read headers.
 * `credentialDigest` distinguishes credentials in caches that several servers share.
 */
export function withCredential(
  interceptor: RequestInterceptor,
  secret: SecretSource,
  { env = process.env }: EnvironmentOptions,
  ...account: readonly (string | undefined)[]
): RequestInterceptor {
  const readsHeaders = typeof secret === 'function' ? secret.readsHeaders : []
  const value = typeof secret === 'object' ? env[secret.env] : String(secret)
  const digest = createHash('sha256').update(JSON.stringify([value, ...account]))
  return Object.assign(interceptor, { readsHeaders, credentialDigest: digest.digest('base64url') })
}
