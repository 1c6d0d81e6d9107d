import { createFakeClock, startRestBackend } from '@vinyasa/test-kit'
import { buildSchema, parse } from 'graphql'
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAccessRules } from '../../src/access/rules/access-rules.ts'
import { createTokenVerifier } from '../../src/access/tokens/token-verifier.ts'
import type { GatewayConfig } from '../../src/config/types.ts'
import { type Identity, markVerified, oncePerToken } from '../../src/context/identity.ts'
import { post, startGateway } from '../support/gateway.ts'

const ISSUER = 'https://issuer.example'
const SECRET = 'a secret that is long enough for HS256'
const JWT = { issuers: [{ issuer: ISSUER, audience: 'api', secret: SECRET }] }
const QUERY = '{ hello }'
const TIMES = 100

const CONFIG: GatewayConfig = {
  typeDefs: 'type Query { hello: String }',
  resolvers: { Query: { hello: () => 'world' } },
  dependencies: { 'Query.hello': { variesBy: [] } },
  auth: { jwt: JWT },
}

function tokenFor(claims: Record<string, unknown>): Promise<string> {
  return new SignJWT(claims)
    .setIssuer(ISSUER)
    .setAudience('api')
    .setExpirationTime('1h')
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(SECRET))
}

async function start(config: GatewayConfig) {
  const { endpoint } = await startGateway({ ...CONFIG, ...config })
  return async (token: string) => {
    const response = await post(endpoint, { query: QUERY }, { authorization: `Bearer ${token}` })
    return (await response.json()) as { readonly errors?: unknown; readonly data?: unknown }
  }
}

/** Counts the calls of a function of `node:crypto` that have a text among their arguments. */
function spyOnHash(text: string): () => number {
  const spy = vi.spyOn(crypto, 'hash')
  syncBuiltinESMExports()
  onTestFinished(() => {
    spy.mockRestore()
    syncBuiltinESMExports()
  })
  return () => spy.mock.calls.filter(([, input]) => String(input).includes(text)).length
}

function identityWith(scopes: readonly string[], claims: Record<string, unknown> = {}): Identity {
  return { claims, scopes: new Set(scopes), expiresAt: Number.POSITIVE_INFINITY }
}

describe('values that depend on the token only', () => {
  it('verifies a token and hashes its rate-limit key once for many requests', async () => {
    const ask = await start({
      rateLimit: { rules: [{ by: { claim: 'sub' }, max: 1000, windowSeconds: 60 }] },
    })
    const token = await tokenFor({ sub: 'ada-of-many-requests' })
    const hashes = spyOnHash('ada-of-many-requests')
    const verify = vi.spyOn(crypto.webcrypto.subtle, 'verify')
    onTestFinished(() => verify.mockRestore())
    for (let time = 0; time < TIMES; time++) expect((await ask(token)).errors).toBeUndefined()
    expect(hashes()).toBe(1)
    expect(verify).toHaveBeenCalledTimes(1)
  })

  it('counts two callers separately although each key is kept', async () => {
    const ask = await start({ rateLimit: { rules: [{ by: { claim: 'sub' }, max: 2, windowSeconds: 60 }] } })
    const [ada, bob] = [await tokenFor({ sub: 'ada' }), await tokenFor({ sub: 'bob' })]
    const outcomes = []
    for (const token of [ada, bob, ada, bob, ada, bob]) outcomes.push((await ask(token)).errors === undefined)
    expect(outcomes).toEqual([true, true, true, true, false, false])
  })

  it('counts by the current claims of an identity that a plugin sets', async () => {
    const auth = { claims: { sub: 'first' }, scopes: new Set<string>(), expiresAt: Number.POSITIVE_INFINITY }
    const { endpoint } = await startGateway({
      ...CONFIG,
      auth: undefined,
      plugins: [
        {
          readsHeaders: [],
          onRequestParse: ({ serverContext }: { readonly serverContext: object }) =>
            void Object.assign(serverContext, { auth }),
        },
      ],
      rateLimit: {
        rules: [{ by: { claim: 'sub' }, max: 1, windowSeconds: 60, counts: 'executions' }],
      },
    })
    const isLimited = async () =>
      ((await (await post(endpoint, { query: QUERY })).json()) as { errors?: unknown }).errors !== undefined
    expect([await isLimited(), await isLimited()]).toEqual([false, true])
    auth.claims.sub = 'second'
    expect(await isLimited()).toBe(false)
  })

  it('releases kept values with the identity of the token', () => {
    const compute = vi.fn(({ claims }: Identity) => String(claims['sub']))
    const keyOf = oncePerToken(compute)
    const first = markVerified(identityWith([], { sub: 'ada' }))
    const again = markVerified(identityWith([], { sub: 'ada again' }))
    expect([keyOf(first), keyOf(first), keyOf(again), keyOf({ ...first })]).toEqual([
      'ada',
      'ada',
      'ada again',
      'ada',
    ])
    expect(compute).toHaveBeenCalledTimes(3)
  })
})

describe('decisions of access rules', () => {
  const schema = buildSchema('type Query { open: Int, a: Int, b: Int }')

  function rulesWith(comparesClaims: boolean) {
    const holds = vi.fn(
      (_name: string, identity: Identity | undefined) => identity?.claims['role'] === 'admin',
    )
    const rules = createAccessRules(
      schema,
      { 'Query.a': { policies: ['admin'] } },
      { holds, comparesClaims: () => comparesClaims },
    )
    const touched = rules.inOperation(parse('{ a }'))
    return {
      holds,
      touched,
      refuses: (identity: Identity) => rules.refusals(touched, identity).has('Query.a'),
    }
  }

  it('are made once for a verified token and an operation', () => {
    const { holds, refuses } = rulesWith(true)
    const admin = markVerified(identityWith([], { role: 'admin' }))
    const guest = markVerified(identityWith([], { role: 'guest' }))
    for (let time = 0; time < TIMES; time++) expect([refuses(admin), refuses(guest)]).toEqual([false, true])
    expect(holds).toHaveBeenCalledTimes(2)
  })

  it('are made for each request if a policy is a function', () => {
    const { holds, refuses } = rulesWith(false)
    const admin = markVerified(identityWith([], { role: 'admin' }))
    for (let time = 0; time < TIMES; time++) expect(refuses(admin)).toBe(false)
    expect(holds).toHaveBeenCalledTimes(TIMES)
  })

  it('are made for each request if other code set the identity', () => {
    const { refuses } = rulesWith(true)
    const claims = { role: 'admin' }
    const identity = identityWith([], claims)
    expect(refuses(identity)).toBe(false)
    claims.role = 'guest'
    expect(refuses(identity)).toBe(true)
  })

  it('are kept for a bounded number of operations', () => {
    const holds = vi.fn(() => true)
    const rules = createAccessRules(
      schema,
      { 'Query.a': { policies: ['admin'] } },
      { holds, comparesClaims: () => true },
    )
    const documents = Array.from({ length: 17 }, () => rules.inOperation(parse('{ a }')))
    const identity = markVerified(identityWith([]))
    for (const touched of documents) rules.refusals(touched, identity)
    expect(holds).toHaveBeenCalledTimes(17)
    for (const touched of documents.slice(1)) rules.refusals(touched, identity)
    expect(holds).toHaveBeenCalledTimes(17)
    rules.refusals(documents[0]!, identity)
    expect(holds).toHaveBeenCalledTimes(18)
  })

  it('follows a policy function whose result changes between two requests', async () => {
    let isRevoked = false
    const ask = await start({
      access: { fields: { 'Query.hello': { policies: ['active'] } }, policies: { active: () => !isRevoked } },
    })
    const token = await tokenFor({ sub: 'ada' })
    expect((await ask(token)).data).toEqual({ hello: 'world' })
    isRevoked = true
    expect((await ask(token)).data).toEqual({ hello: null })
  })
})

describe('a token that is verified while its key is revoked', () => {
  it('is not accepted after that', async () => {
    const pairs = await Promise.all(
      ['old', 'new'].map(async (kid) => {
        const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
        return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid } }
      }),
    )
    const [old, next] = pairs
    if (!old || !next) throw new Error('expected two keys')
    let published: readonly JWK[] = [old.jwk]
    const issuer = await startRestBackend(() => ({ json: { keys: published } }))
    onTestFinished(() => issuer.stop())
    const clock = createFakeClock({ startAt: Date.now() })
    const verify = createTokenVerifier({
      issuers: [{ issuer: issuer.url, audience: 'api', jwksUri: issuer.url }],
      clock,
    })
    const signedBy = ({ kid, privateKey }: typeof old, sub: string) =>
      new SignJWT({ sub })
        .setIssuer(issuer.url)
        .setAudience('api')
        .setExpirationTime('1h')
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(privateKey)
    await verify(await signedBy(old, 'first'))
    published = [next.jwk]
    await clock.advance(60_000)

    let release = (): void => {}
    const isHeld = new Promise<void>((resolve) => (release = resolve))
    const { subtle } = crypto.webcrypto
    const real = subtle.verify.bind(subtle)
    const spy = vi.spyOn(subtle, 'verify').mockImplementationOnce(async (...given) => {
      await isHeld
      return real(...given)
    })
    onTestFinished(() => spy.mockRestore())
    const stolen = await signedBy(old, 'second')
    const held = verify(stolen)
    await verify(await signedBy(next, 'third'))
    release()
    await held
    await expect((async () => verify(stolen))()).rejects.toThrow('The token is signed with an unknown key.')
  })
})
