import { boundedFetch } from '@vinyasa/base'
import type { JSONWebKeySet } from 'jose'
import { reasonOf } from '../../errors.ts'
import { keysAddress, keysIn } from './signed-documents.ts'

/**
 * Limit in bytes of a set of keys, or of the document that names its address. The sets of large issuers have
 * some tens of kB.
 */
const MAX_BYTES = 1024 * 1024

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
  const keys = keysIn(await readJson(address, signal))
  if (!keys) throw new Error(`the response from ${address} is not a JSON Web Key Set`)
  return keys
}

async function discover(issuer: string, signal: AbortSignal): Promise<string> {
  const address = `${issuer.replace(/(?<!\/)\/+$/, '')}/.well-known/openid-configuration`
  const found = keysAddress(await readJson(address, signal))
  if (found === undefined) throw new Error(`the response from ${address} has no valid jwks_uri`)
  return found
}

async function readJson(address: string, signal: AbortSignal): Promise<unknown> {
  const options = { maxBytes: MAX_BYTES, signal, accept: 'application/json' }
  const { ok, status, bytes } = await boundedFetch(address, options).catch((error: unknown) => {
    throw new Error(`${address}: ${reasonOf(error)}`, { cause: error })
  })
  if (!ok) throw new Error(`${address} responded with HTTP status ${status}`)
  return JSON.parse(bytes.toString()) as unknown
}
