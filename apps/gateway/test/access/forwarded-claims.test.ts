import { AUDIENCE, startGrpcBackend, startIssuer, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { post, startGateway } from '../support/gateway.ts'

const PROTO = `syntax = "proto3"; package p; message Nothing {} message Text { string text = 1; }
  service Texts { rpc GetText(Nothing) returns (Text); }`
const rest = await startRestBackend(() => ({ json: 'a' }))
const grpc = await startGrpcBackend({
  protos: PROTO,
  handlers: { 'p.Texts/GetText': async () => ({ text: 'a' }) },
})
const issuer = await startIssuer()
afterAll(() => Promise.all([rest.stop(), grpc.stop(), issuer[Symbol.asyncDispose]()]))

const headers = ['x-user', 'x-user-bin']
const start = () =>
  startGateway({
    auth: {
      jwt: {
        issuers: [{ issuer: issuer.url, audience: AUDIENCE }],
        forwardClaims: { 'x-user': 'user', 'x-user-bin': 'bin' },
      },
    },
    responseCache: { defaultTtlMs: 10_000 },
    rest: {
      r: {
        baseUrl: rest.url,
        endpoints: [{ name: 'rest', path: '/', returnType: 'String' }],
        forwardHeaders: headers,
      },
    },
    grpc: {
      g: {
        endpoint: grpc.address,
        protoText: { 'p.proto': PROTO },
        methods: { 'p.Texts.GetText': { schema: { type: 'QUERY', name: 'grpc' } } },
        forwardHeaders: headers,
      },
    },
  })

let endpoint = ''
beforeEach(async () => {
  endpoint = (await start()).endpoint
})

async function ask(query: string, claims: Readonly<Record<string, unknown>>) {
  const authorization = `Bearer ${issuer.token({ claims })}`
  const response = await post(endpoint, { query }, { authorization, 'x-user': 'forged' })
  const { data, errors } = (await response.json()) as any
  return errors ? errors[0] : data
}

/** The header as bytes, as a backend that does not take it for Latin-1 reads it. */
const sentToRest = (name: string): string =>
  Buffer.from(String(rest.requests.at(-1)?.headers[name]), 'latin1').toString()

describe('forwardClaims', () => {
  it.each(['ada', 'José', 'Łukasz', '山田太郎', 'Ünal 🎈', '%41', 'a,b', 'José'])(
    'send the claim %s in UTF-8, which gRPC refuses beyond ASCII',
    async (user) => {
      expect(await ask('{ rest }', { user })).toEqual({ rest: 'a' })
      expect(sentToRest('x-user')).toBe(user)
      const before = grpc.calls.length
      const answer = await ask('{ grpc { text } }', { user })
      const isAscii = /^[\x20-\x7e]*$/.test(user)
      expect(answer.message ?? answer.grpc.text).toMatch(isAscii ? /^a$/ : /"x-user"/)
      const received = grpc.calls.slice(before).map(({ metadata }) => metadata['x-user'])
      expect(received).toEqual(isAscii ? [[user]] : [])
    },
  )

  it.each(['ada', '山田太郎'])('send the claim %s as bytes under a name that ends in -bin', async (bin) => {
    await ask('{ rest }', { bin, nonce: 'bin' })
    expect(rest.requests.at(-1)?.headers['x-user-bin']).toBe(Buffer.from(bin).toString('base64'))
    expect(await ask('{ grpc { text } }', { bin })).toEqual({ grpc: { text: 'a' } })
    expect(grpc.calls.at(-1)?.metadata['x-user-bin']).toEqual([Buffer.from(bin)])
  })

  it.each<[string, unknown]>([
    ['a line break', 'ada\nadmin: 1'],
    ['a control character', 'ada\u0000'],
    ['space around it', ' ada'],
    ['half a character', 'a\ud83c'],
    ['an object', { name: 'ada' }],
    ['a list of objects', [{ name: 'ada' }]],
  ])('refuse a request whose claim no header can hold: %s', async (_, user) => {
    const before = [rest.requests.length, grpc.calls.length]
    for (const query of ['{ rest }', '{ grpc { text } }'])
      expect(await ask(query, { user })).toMatchObject({
        message: expect.stringContaining('"user"'),
        extensions: { code: 'UNAUTHENTICATED' },
      })
    expect([rest.requests.length, grpc.calls.length]).toEqual(before)
  })

  it.each([undefined, null, '', []])('send no header for a claim without a value: %j', async (user) => {
    const count = rest.requests.length
    await ask('{ rest }', { user, nonce: String(user) })
    for (const { headers: received } of rest.requests.slice(count))
      expect(received).not.toHaveProperty('x-user')
  })

  it('send lists with commas', async () => {
    await ask('{ rest }', { user: ['é', 1, true] })
    expect(sentToRest('x-user')).toBe('é,1,true')
  })
})
