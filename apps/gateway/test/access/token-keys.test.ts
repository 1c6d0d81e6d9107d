import { createFakeClock, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose'
import { afterAll, describe, expect, it } from 'vitest'
import { createTokenVerifier } from '../../src/access/tokens/token-verifier.ts'

const ALGORITHMS = ['RS256', 'PS256', 'RS256', 'ES256', 'ES256', 'ES384', 'EdDSA', 'EdDSA'] as const
const pairs = await Promise.all(
  ALGORITHMS.map(async (alg, index) => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    return { alg, privateKey, jwk: await exportJWK(publicKey), kid: `key-${index}` }
  }),
)
let published: readonly JWK[] = []
const issuer = await startRestBackend(() => ({ json: { keys: published } }))
afterAll(() => issuer.stop())

function open() {
  const clock = createFakeClock({ startAt: Date.now() })
  const verify = createTokenVerifier({
    issuers: [{ issuer: issuer.url, audience: 'api', jwksUri: issuer.url }],
    clock,
  })
  return {
    ask: async (token: string): Promise<string> => {
      try {
        return String((await verify(token)).claims['sub'])
      } catch (error) {
        return (error as Error).message
      }
    },
    pass: (ms: number) => clock.advance(ms),
  }
}

async function token(index: number, isNamed: boolean): Promise<string> {
  const { alg, kid, privateKey } = pairs[index]!
  return new SignJWT({ sub: `ada-${index}` })
    .setIssuer(issuer.url)
    .setAudience('api')
    .setExpirationTime('1h')
    .setProtectedHeader({ alg, ...(isNamed && { kid }) })
    .sign(privateKey)
}

/** Issuers publish any of its key's name, algorithm and use. */
const publishing = fc.array(
  fc.record({ index: fc.nat(pairs.length - 1), kid: fc.boolean(), alg: fc.boolean(), use: fc.boolean() }),
  { minLength: 1, maxLength: 6 },
)
function publish(keys: readonly { index: number; kid: boolean; alg: boolean; use: boolean }[]): void {
  published = keys.map(({ index, kid, alg, use }) => ({
    ...pairs[index]!.jwk,
    ...(kid && { kid: pairs[index]!.kid }),
    ...(alg && { alg: pairs[index]!.alg }),
    ...(use && { use: 'sig' }),
  }))
}

describe('a token that names no key', () => {
  it('is verified by any of its issuer that fits, and by no other', async () => {
    const any = fc.asyncProperty(publishing, fc.nat(pairs.length - 1), async (keys, index) => {
      publish(keys)
      const isKnown = keys.some((one) => one.index === index)
      const answer = await open().ask(await token(index, false))
      expect(answer).toMatch(isKnown ? `ada-${index}` : /signature of the token is not valid|unknown key/)
    })
    await fc.assert(any, { numRuns: 150 })
  })

  it('is verified by a new key too, once the issuer may be asked again', async () => {
    publish([{ index: 3, kid: false, alg: true, use: true }])
    const { ask, pass } = open()
    expect(await ask(await token(3, false))).toBe('ada-3')
    publish([{ index: 4, kid: false, alg: true, use: true }])
    expect(await ask(await token(4, false))).toBe('The format or the signature of the token is not valid.')
    await pass(31_000)
    const asked = issuer.requests.length
    expect(await ask(await token(4, false))).toBe('ada-4')
    expect(await ask(await token(3, false))).toBe('The format or the signature of the token is not valid.')
    expect(issuer.requests.length).toBe(asked + 1)
  })
})

it('a token that names no key is tried with 16 keys at most', async () => {
  const others = await Promise.all(
    Array.from({ length: 16 }, async () => exportJWK((await generateKeyPair('ES256')).publicKey)),
  )
  published = [...others.slice(1), pairs[3]!.jwk]
  expect(await open().ask(await token(3, false))).toBe('ada-3')
  published = [...others, pairs[3]!.jwk]
  expect(await open().ask(await token(3, false))).toBe(
    'The format or the signature of the token is not valid.',
  )
  published = [...others, { ...pairs[3]!.jwk, kid: pairs[3]!.kid }]
  expect(await open().ask(await token(3, true))).toBe('ada-3')
})

it('a token that names a key is verified by that one alone', async () => {
  const any = fc.asyncProperty(publishing, fc.nat(pairs.length - 1), async (keys, index) => {
    publish(keys)
    const isNamed = keys.filter((one) => one.index === index && one.kid)
    const answer = await open().ask(await token(index, true))
    expect(answer).toBe(isNamed.length > 0 ? `ada-${index}` : 'The token is signed with an unknown key.')
  })
  await fc.assert(any, { numRuns: 100 })
})
