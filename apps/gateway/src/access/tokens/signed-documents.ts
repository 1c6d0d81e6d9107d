import type { JSONWebKeySet, JWK } from 'jose'
import { z } from 'zod'

/**
 * The forms of what issuers and strangers write, before anything is taken from it. Anything of another form
 * counts as absent.
 */
const claims = z.object({ iss: z.string() })
const discovery = z.object({ jwks_uri: z.string().regex(/^https?:\/\/[^/]/i) })
const keySet = z.object({ keys: z.array(z.unknown()) })
/**
 * The parts of a key that verify (RFC 7517, RFC 7518). Its private parts, should somebody publish them, are
 * left out.
 */
const key = z.object({
  kty: z.string(),
  kid: z.string().optional(),
  alg: z.string().optional(),
  use: z.string().optional(),
  key_ops: z.array(z.string()).optional(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
  n: z.string().optional(),
  e: z.string().optional(),
  pub: z.string().optional(),
})

/** The issuer that a token names, not verified; undefined where it names none, or no text. */
export function issuerNamed(payload: unknown): string | undefined {
  return claims.safeParse(payload).data?.iss
}

/** Returns the address of the keys in a discovery document (OpenID Connect Discovery 1.0, section 3). */
export function keysAddress(document: unknown): string | undefined {
  return discovery.safeParse(document).data?.jwks_uri
}

/** The keys of a set; an entry that is none is left out, and the others verify. Undefined where it is no set. */
export function keysIn(document: unknown): JSONWebKeySet | undefined {
  const entries = keySet.safeParse(document).data?.keys
  if (!entries) return undefined
  const keys = entries.flatMap((entry): JWK[] => {
    const { data } = key.safeParse(entry)
    return data ? [data as JWK] : []
  })
  return { keys }
}
