import { RestConfigError } from './errors.ts'
import type { CallInfo, RequestInterceptor } from './interceptor.ts'

/** A secret: its value, the name of an environment variable, or a function that gives it for each attempt. */
export type SecretSource = string | { readonly env: string } | ((info: CallInfo) => string | Promise<string>)

export interface EnvironmentOptions {
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

export interface ApiKeyOptions extends EnvironmentOptions {
  /** Default `X-API-Key`. */
  readonly header?: string | undefined
}

/** Adds `Authorization: Bearer <token>`. Throws `RestConfigError` when the environment variable is not set. */
export function bearer(token: SecretSource, options: EnvironmentOptions = {}): RequestInterceptor {
  const read = secretReader(token, options)
  return async ({ headers }, info) => headers.set('authorization', `Bearer ${await read(info)}`)
}

/** Adds `X-API-Key: <key>`. Throws `RestConfigError` when the environment variable is not set. */
export function apiKey(key: SecretSource, options: ApiKeyOptions = {}): RequestInterceptor {
  const { header = 'X-API-Key' } = options
  const read = secretReader(key, options)
  return async ({ headers }, info) => headers.set(header, await read(info))
}

export function secretReader(
  source: SecretSource,
  { env = process.env }: EnvironmentOptions,
): (info: CallInfo) => string | Promise<string> {
  if (typeof source === 'function') return source
  if (typeof source === 'string') return () => source
  const value = env[source.env]
  if (!value)
    throw new RestConfigError(`environment variable ${source.env} is not set; it must hold the credential`)
  return () => value
}
