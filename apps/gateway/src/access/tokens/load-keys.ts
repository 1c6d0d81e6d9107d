import type { JSONWebKeySet } from 'jose'

export interface KeysAddress {
  readonly issuer: string
  /** Default: what the issuer's `.well-known/openid-configuration` names. */
  readonly jwksUri?: string | undefined
}

/** Asks an issuer for its public keys (RFC 7517; OpenID Connect Discovery 1.0, section 4). */
export async function loadKeys(
  { issuer, jwksUri }: KeysAddress,
  signal: AbortSignal,
): Promise<JSONWebKeySet> {
  const address = jwksUri ?? (await discover(issuer, signal))
  const found = await readJson(address, signal)
  if (!Array.isArray(found['keys'])) throw new Error(`${address} holds no JSON Web Key Set`)
  return found as unknown as JSONWebKeySet
}

async function discover(issuer: string, signal: AbortSignal): Promise<string> {
  const address = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
  const { jwks_uri: found } = await readJson(address, signal)
  if (typeof found !== 'string') throw new Error(`${address} names no jwks_uri`)
  return found
}

async function readJson(address: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const response = await fetch(address, { signal, headers: { accept: 'application/json' } })
  if (response.ok) return Object((await response.json()) as unknown) as Record<string, unknown>
  await response.body?.cancel()
  throw new Error(`${address} answered ${response.status}`)
}
