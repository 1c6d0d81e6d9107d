import { type Clock, systemClock, boundedFetch } from '@vinyasa/core'
import {
  decodeJwt,
  errors,
  jwtVerify,
  type CryptoKey,
  type JWTPayload,
  type JWTVerifyOptions,
  type JSONWebKeySet,
  type JWK,
} from 'jose'
import { GraphQLError } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { IssuerConfig, JwtConfig } from '../access-types.ts'
import type { Logger } from '../../logging/logger.ts'
import { createOutage } from '../../logging/outage.ts'
import { unauthenticated } from '../errors.ts'
import { claimAt, markVerified, textsOf, type Identity } from '../../context/identity.ts'
import { PUBLIC_KEY_ALGORITHMS, SECRET_ALGORITHMS } from './algorithms.ts'
import { createKeySet, type KeySet } from './key-set.ts'
import { reasonOf } from '../../errors.ts'
import { z } from 'zod'

/**
 * The forms of what issuers and strangers write, before anything is taken from it. Anything of another form
 * counts as absent.
 */
const claims = z.object({ iss: z.string() })
/** A discovery document (OpenID Connect Discovery 1.0, section 3). */
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

/** The keys of a set; an entry that is none is left out, and the others verify. Undefined where it is no set. */
function keysIn(document: unknown): JSONWebKeySet | undefined {
  const entries = keySet.safeParse(document).data?.keys
  if (!entries) return undefined
  const keys = entries.flatMap((entry): JWK[] => {
    const { data } = key.safeParse(entry)
    return data ? [data as JWK] : []
  })
  return { keys }
}

/**
 * Limit in bytes of a set of keys, or of the document that names its address. The sets of large issuers have
 * some tens of kB.
 */
const MAX_BYTES = 1024 * 1024

/** Asks an issuer for its public keys (RFC 7517; OpenID Connect Discovery 1.0, section 4). */
async function loadKeys({ issuer, jwksUri }: IssuerConfig, signal: AbortSignal): Promise<JSONWebKeySet> {
  const address = jwksUri ?? (await discover(issuer, signal))
  const keys = keysIn(await readJson(address, signal))
  if (!keys) throw new Error(`the response from ${address} is not a JSON Web Key Set`)
  return keys
}

async function discover(issuer: string, signal: AbortSignal): Promise<string> {
  const address = `${issuer.replace(/(?<!\/)\/+$/, '')}/.well-known/openid-configuration`
  const { data } = discovery.safeParse(await readJson(address, signal))
  if (!data) throw new Error(`the response from ${address} has no valid jwks_uri`)
  return data.jwks_uri
}

async function readJson(address: string, signal: AbortSignal): Promise<unknown> {
  const options = { maxBytes: MAX_BYTES, signal, accept: 'application/json' }
  const { ok, status, bytes } = await boundedFetch(address, options).catch((error: unknown) => {
    throw new Error(`${address}: ${reasonOf(error)}`, { cause: error })
  })
  if (!ok) throw new Error(`${address} responded with HTTP status ${status}`)
  return JSON.parse(bytes.toString()) as unknown
}

export interface TokenVerifierOptions extends Pick<JwtConfig, 'issuers' | 'scopesClaim'> {
  /** Told of issuers that do not answer. Default: none is. */
  readonly logger?: Logger | undefined
  /** Told of each token of an issuer that is not among them, by the name in it. */
  readonly onUnknownIssuer?: ((issuer: string) => void) | undefined
  readonly clock?: Clock | undefined
}

/** Throws a `GraphQLError`: `UNAUTHENTICATED`, or `SERVICE_UNAVAILABLE` where the issuer's keys are not to be had. */
export type VerifyToken = (token: string) => Identity | Promise<Identity>

/** How far clocks may be apart. */
const CLOCK_TOLERANCE_SECONDS = 5
const KNOWN_TOKENS = 10_000
const KNOWN_CHARACTERS = 16 * 1024 * 1024
const MAX_TOKEN_CHARACTERS = 16_384

interface Issuer {
  readonly config: IssuerConfig
  /** The secret, or who knows the issuer's keys. */
  readonly key: Uint8Array | KeySet
  readonly algorithms: readonly string[]
}

/** Verifies tokens, each by the keys of the issuer that it names and no other's; remembers those that were valid. */
export function createTokenVerifier(options: TokenVerifierOptions): VerifyToken {
  const { issuers, scopesClaim, logger, onUnknownIssuer, clock = systemClock } = options
  const known = new LRUCache<string, Identity>({
    max: KNOWN_TOKENS,
    maxSize: KNOWN_CHARACTERS,
    sizeCalculation: (_, token) => Math.max(1, token.length),
  })
  let keyChanges = 0
  const byName = new Map(issuers.map((config) => [config.issuer, toIssuer(config)]))

  function toIssuer(config: IssuerConfig): Issuer {
    const { secret } = config
    if (secret !== undefined) {
      const key = new TextEncoder().encode(secret)
      return { config, key, algorithms: config.algorithms ?? SECRET_ALGORITHMS }
    }
    const key = createKeySet({
      load: (signal) => loadKeys(config, signal),
      outage: createOutage(
        logger,
        {
          down: 'cannot read the keys of a token issuer; tokens of this issuer are refused with HTTP status 503 if the gateway has no matching key',
          up: 'the keys of the token issuer can be read again',
        },
        { issuer: config.issuer },
      ),
      onChange() {
        keyChanges++
        known.clear()
      },
      clock,
    })
    return { config, key, algorithms: config.algorithms ?? PUBLIC_KEY_ALGORITHMS }
  }

  async function verify(token: string): Promise<Identity> {
    const name = issuerOf(token)
    const issuer = byName.get(name)
    if (!issuer) {
      onUnknownIssuer?.(name)
      throw unauthenticated('The claim "iss" of the token is missing or names an unknown issuer.', true)
    }
    const { config, key, algorithms } = issuer
    const changesBefore = keyChanges
    try {
      const payload = await payloadOf(token, key, {
        issuer: config.issuer,
        audience: [config.audience].flat(),
        algorithms: [...algorithms],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(clock.wallNow()),
        requiredClaims: ['exp'],
      })
      const identity = toIdentity(payload)
      // The token may be verified by a key that has been revoked in the meantime.
      if (keyChanges === changesBefore) known.set(token, identity)
      return identity
    } catch (error) {
      throw error instanceof GraphQLError ? error : unauthenticated(messageFor(error), true)
    }
  }

  function toIdentity(claims: JWTPayload): Identity {
    const scopes =
      scopesClaim === undefined ? (claims['scope'] ?? claims['scp']) : claimAt(claims, scopesClaim)
    const expiresAt = ((claims.exp ?? 0) + CLOCK_TOLERANCE_SECONDS) * 1000
    return markVerified({ claims, scopes: new Set(textsOf(scopes)), expiresAt })
  }

  return (token) => {
    if (token.length > MAX_TOKEN_CHARACTERS)
      throw unauthenticated(`The token exceeds the limit of ${MAX_TOKEN_CHARACTERS} characters.`, true)
    const found = known.get(token)
    if (!found) return verify(token)
    if (found.expiresAt > clock.wallNow()) return found
    known.delete(token)
    throw unauthenticated(EXPIRED, true)
  }
}

/** By any key that fits: a token need not name its own. Not by those of before, where the issuer has others now. */
async function payloadOf(token: string, key: Issuer['key'], options: JWTVerifyOptions): Promise<JWTPayload> {
  if (key instanceof Uint8Array) return (await jwtVerify(token, key, options)).payload
  let isNamed = true
  const verify = async (): Promise<JWTPayload> => {
    let others: readonly CryptoKey[] | undefined
    const first = await jwtVerify(
      token,
      async (header, input) => {
        isNamed = header.kid !== undefined
        const [one, ...rest] = await key.keysFor(header, input)
        if (!one) throw new errors.JWKSNoMatchingKey()
        others = rest
        return one
      },
      options,
    ).catch((error: unknown) => (others ? unlessRefused(error) : ifSignedOtherwise(error)))
    if (first) return first.payload
    for (const other of others ?? []) {
      const found = await jwtVerify(token, other, options).catch(unlessRefused)
      if (found) return found.payload
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
  const payload = await verify().catch(ifSignedOtherwise)
  if (payload) return payload
  // That its key is a new one is not to be seen on it.
  if (!isNamed && (await key.renew())) return verify()
  throw new errors.JWSSignatureVerificationFailed()
}

function ifSignedOtherwise(error: unknown): undefined {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
}

/** A key that cannot verify anything, as one that is too short, is none of the token's, as one of another signature. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof errors.JOSEError) ifSignedOtherwise(error)
}

const EXPIRED = 'The token has expired.'

/** Returns the issuer that a token names, without verifying it. An empty string if the claim is missing or not a string. */
function issuerOf(token: string): string {
  try {
    return claims.safeParse(decodeJwt(token)).data?.iss ?? ''
  } catch {
    throw unauthenticated('The token is not a valid JSON Web Token.', true)
  }
}

/** In words that tell a client what to do, and nothing of the keys. */
function messageFor(error: unknown): string {
  if (error instanceof errors.JWTExpired) return EXPIRED
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return 'The claim "aud" of the token is missing or names a different audience.'
    if (error.claim === 'nbf') return 'The token is not valid yet, or the claim "nbf" is not a number.'
    return `The claim "${error.claim}" of the token is missing or not accepted.`
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The algorithm of the token is not accepted.'
  if (error instanceof errors.JWKSNoMatchingKey) return 'The token is signed with an unknown key.'
  return 'The format or the signature of the token is not valid.'
}
