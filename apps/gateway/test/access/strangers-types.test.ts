import { AUDIENCE, connectRawWebSocket, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { createHmac, createSign, KeyObject } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../../src/config/types.ts'
import { createLogger, type Logger } from '../../src/logging/logger.ts'
import { post, startGateway } from '../support/gateway.ts'

const SECRET = 'a secret of at least thirty-two bytes, for HS256'
const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
const JWK_OF_ISSUER: JWK = { ...(await exportJWK(publicKey)), kid: 'known' }
let published: unknown = { keys: [JWK_OF_ISSUER] }
let discovered: unknown
const issuer = await startRestBackend(({ url }) => ({
  json: url.pathname.endsWith('/openid-configuration') ? discovered : published,
}))
afterAll(() => issuer.stop())
beforeEach(() => {
  published = { keys: [JWK_OF_ISSUER] }
  discovered = { jwks_uri: `${issuer.url}/keys` }
})

const CONFIG: GatewayConfig = {
  typeDefs: 'type Query { hello: Int }',
  resolvers: { Query: { hello: () => 1 } },
  apq: true,
  liveQuery: {},
  rateLimit: { rules: [{ max: 1_000_000, windowSeconds: 60, by: { claim: 'sub' } }] },
  access: { rules: [{ on: 'Query.hello', scopes: [['read']] }] } as never,
  auth: {
    jwt: {
      issuers: [
        { issuer: issuer.url, audience: AUDIENCE },
        { issuer: 'urn:secret', audience: AUDIENCE, secret: SECRET },
      ],
      forwardClaims: { 'x-user': 'sub', 'x-deep': 'a.b' },
    },
  },
}

/** A gateway, and what it logs. */
async function start(config: GatewayConfig = CONFIG) {
  const lines: string[] = []
  const logger: Logger = await createLogger({
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) } as never,
  })
  const { endpoint } = await startGateway(config, { logger })
  return { endpoint, stacks: () => lines.filter((line) => /"stack":|\n\s+at /.test(line)), lines }
}

const json = (value: unknown): string => Buffer.from(JSON.stringify(value) ?? 'null').toString('base64url')

function signed(header: unknown, payload: unknown, how: 'HS256' | 'RS256'): string {
  const text = `${json(header)}.${json(payload)}`
  const signature =
    how === 'HS256'
      ? createHmac('sha256', SECRET).update(text).digest('base64url')
      : createSign('sha256')
          .update(text)
          .sign(KeyObject.from(privateKey as never), 'base64url')
  return `${text}.${signature}`
}

const value = fc.jsonValue({ maxDepth: 3 })
const CLAIMS = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'scope', 'scp', 'a', '__proto__', 'toString']
const HEADERS = ['alg', 'kid', 'typ', 'cty', 'crit', 'b64', 'jwk', 'jku', 'x5c', 'x5u', 'zip', 'p2c', 'enc']
const some = (names: readonly string[]) => fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 })

describe('a token of any JSON', () => {
  it.each(['HS256', 'RS256'] as const)(
    'in any claim and header, signed with %s, is answered below 500',
    async (how) => {
      const { endpoint, stacks } = await start()
      const now = Math.floor(Date.now() / 1000)
      const right = {
        iss: how === 'HS256' ? 'urn:secret' : issuer.url,
        aud: AUDIENCE,
        exp: now + 3600,
        sub: 'ada',
      }
      const seen = new Set<number>()
      await fc.assert(
        fc.asyncProperty(some(CLAIMS), some(HEADERS), fc.boolean(), async (claims, header, isHeader) => {
          const token = signed(
            { alg: how, kid: 'known', ...(isHeader && header) },
            { ...right, ...(!isHeader && claims) },
            how,
          )
          const response = await post(endpoint, { query: '{ hello }' }, { authorization: `Bearer ${token}` })
          seen.add(response.status)
          await response.text()
          expect(response.status).toBeLessThan(500)
        }),
        { numRuns: 300 },
      )
      expect([...seen].toSorted()).toEqual([200, 401])
      expect(stacks()).toEqual([])
    },
  )

  it('as its whole header or payload', async () => {
    const { endpoint, stacks } = await start()
    await fc.assert(
      fc.asyncProperty(value, value, async (header, payload) => {
        for (const token of [
          signed({ alg: 'HS256' }, payload, 'HS256'),
          signed(header, { iss: 'urn:secret' }, 'HS256'),
        ]) {
          const response = await post(endpoint, { query: '{ hello }' }, { authorization: `Bearer ${token}` })
          expect(response.status).toBe(401)
          await response.text()
        }
      }),
      { numRuns: 100 },
    )
    expect(stacks()).toEqual([])
  })
})

describe('a key set', () => {
  const members = ['kty', 'kid', 'alg', 'use', 'key_ops', 'crv', 'x', 'n', 'e', 'd', 'k', 'ext', 'x5c']
  const odd = fc.oneof(
    value,
    fc.dictionary(fc.constantFrom(...members), value, { maxKeys: 4 }),
    fc
      .dictionary(fc.constantFrom(...members), value, { maxKeys: 2 })
      .map((more) => ({ ...JWK_OF_ISSUER, ...more })),
  )
  const token = (kid?: string): string =>
    signed(
      { alg: 'RS256', kid },
      { iss: issuer.url, aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 3600, sub: 'ada' },
      'RS256',
    )

  it('with any odd entries verifies by its good ones', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { maxLength: 5 }), fc.nat(5), async (entries, at) => {
        published = { keys: entries.toSpliced(at, 0, JWK_OF_ISSUER) }
        const { endpoint, stacks } = await start()
        const response = await post(
          endpoint,
          { query: '{ hello }' },
          { authorization: `Bearer ${token('known')}` },
        )
        expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"hello"')])
        expect(stacks()).toEqual([])
      }),
      // A key of no length, under the name of the good one.
      { numRuns: 60, examples: [[[{ kty: 'RSA', n: '', e: 'AQAB', kid: 'known' }], 1]] },
    )
  })

  it('or a discovery document that is none is said once, and answered with 503', async () => {
    for (const [what, keys] of [
      [{ jwks_uri: 5 }, undefined],
      [{ jwks_uri: 'data:application/json,{}' }, undefined],
      [[], undefined],
      [undefined, { keys: {} }],
      [undefined, null],
      [undefined, { keys: [], more: 'x'.repeat(1_100_000) }],
    ] as const) {
      if (what !== undefined) discovered = what
      if (keys !== undefined) published = keys
      const { endpoint, lines } = await start()
      const response = await post(
        endpoint,
        { query: '{ hello }' },
        { authorization: `Bearer ${token('known')}` },
      )
      expect(response.status).toBe(503)
      expect(lines.filter((line) => line.includes('keys of'))).toHaveLength(1)
      discovered = { jwks_uri: `${issuer.url}/keys` }
    }
  })
})

describe('what clients send beside a document', () => {
  it('as parameters of any JSON is answered below 500', async () => {
    const { endpoint, stacks } = await start()
    const hash = fc.constantFrom('a'.repeat(64), 5, null, {})
    const extensions = fc.oneof(
      value,
      fc.record({
        persistedQuery: fc.oneof(value, fc.record({ version: fc.constantFrom(1, '1', 2), sha256Hash: hash })),
      }),
    )
    const params = fc.record(
      {
        query: fc.oneof(fc.constant('{ hello }'), value),
        extensions,
        variables: value,
        operationName: value,
        documentId: value,
        id: value,
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(params, value), async (body) => {
        const response = await post(endpoint, body as object)
        await response.text()
        expect(response.status).toBeLessThan(500)
      }),
      { numRuns: 300 },
    )
    expect(stacks()).toEqual([])
  })

  it('as payload of connection_init opens a socket, or closes it with 4403', async () => {
    const { endpoint, stacks } = await start()
    const payload = fc.oneof(
      value,
      fc.dictionary(fc.constantFrom('authorization', 'Authorization', 'headers'), value),
    )
    await fc.assert(
      fc.asyncProperty(payload, async (given) => {
        await using socket = await connectRawWebSocket(endpoint.replace('http', 'ws'))
        socket.sendJson({ type: 'connection_init', payload: given })
        const answer = await socket.nextJson().catch((error: unknown) => ({ type: String(error) }))
        expect(answer.type).toMatch(/connection_ack|44\d\d/)
        if (answer.type !== 'connection_ack') return
        socket.sendJson({ type: 'subscribe', id: 'a', payload: { query: '{ hello }' } })
        await socket.nextJson()
      }),
      { numRuns: 60 },
    )
    expect(stacks()).toEqual([])
  })
})
