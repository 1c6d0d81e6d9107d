import { AUDIENCE, startIssuer, type Issuer, type TokenOptions } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { IssuerConfig, JwtConfig } from '../../src/access/access-types.ts'
import { post, startGateway } from '../support/gateway.ts'

async function openIssuer(): Promise<Issuer> {
  const issuer = await startIssuer()
  onTestFinished(() => issuer[Symbol.asyncDispose]())
  return issuer
}

/** A gateway whose `me` says who asks. */
async function start(issuers: readonly IssuerConfig[], jwt: Partial<JwtConfig> = {}, preset = 'development') {
  const { endpoint } = await startGateway({
    preset: preset as 'development',
    typeDefs: 'type Query { me: String }',
    resolvers: {
      Query: {
        me: (_: unknown, __: unknown, { auth }: { auth?: { claims: { sub: string } } }) =>
          auth?.claims.sub ?? 'nobody',
      },
    },
    auth: { jwt: { issuers, ...jwt } },
  })
  return async (token?: string, headers: Readonly<Record<string, string>> = {}) => {
    const sent = { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers }
    const response = await post(endpoint, { query: '{ me }' }, sent)
    const { data, errors } = (await response.json()) as any
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      challenge: response.headers.get('www-authenticate'),
      ...(errors ? { code: errors[0].extensions.code, message: errors[0].message } : { me: data.me }),
    }
  }
}

const of = ({ url }: Issuer): IssuerConfig => ({ issuer: url, audience: AUDIENCE })
const now = (): number => Math.floor(Date.now() / 1000)

/** From now on it is later, by the clock that measures durations. */
function passSeconds(seconds: number): void {
  const later = performance.now() + seconds * 1000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => later)
  onTestFinished(() => clock.mockRestore())
}

describe('a token', () => {
  const refused = (message: string) => ({ status: 401, code: 'UNAUTHENTICATED', message })
  const cases: readonly (readonly [string, TokenOptions | (() => TokenOptions), object])[] = [
    ['is accepted', {}, { status: 200, me: 'ada' }],
    ['of another kind of key is accepted', { alg: 'RS256' }, { status: 200, me: 'ada' }],
    [
      'for several audiences is accepted',
      { claims: { aud: ['other', AUDIENCE] } },
      { status: 200, me: 'ada' },
    ],
    [
      'without a signature is refused',
      { alg: 'none' },
      refused('The algorithm of the token is not accepted.'),
    ],
    [
      'signed with the public key as a secret is refused',
      { alg: 'HS256' },
      refused('The algorithm of the token is not accepted.'),
    ],
    [
      'for another audience is refused',
      { claims: { aud: 'other' } },
      refused('The claim "aud" of the token is missing or names a different audience.'),
    ],
    [
      'without an audience is refused',
      { claims: { aud: undefined } },
      refused('The claim "aud" of the token is missing or names a different audience.'),
    ],
    [
      'of an unknown issuer is refused',
      { claims: { iss: 'https://other.example' } },
      refused('The claim "iss" of the token is missing or names an unknown issuer.'),
    ],
    [
      'that has expired is refused',
      () => ({ claims: { exp: now() - 60 } }),
      refused('The token has expired.'),
    ],
    [
      'without an end is refused',
      { claims: { exp: undefined } },
      refused('The claim "exp" of the token is missing or not accepted.'),
    ],
    [
      'of the future is refused',
      () => ({ claims: { nbf: now() + 60 } }),
      refused('The token is not valid yet, or the claim "nbf" is not a number.'),
    ],
    [
      'of a clock four seconds ahead is accepted',
      () => ({ claims: { nbf: now() + 4 } }),
      { status: 200, me: 'ada' },
    ],
    [
      'that expired by a clock two seconds behind is accepted',
      () => ({ claims: { exp: now() - 2 } }),
      { status: 200, me: 'ada' },
    ],
    [
      'of an unknown key is refused',
      { kid: 'no-such-key' },
      refused('The token is signed with an unknown key.'),
    ],
  ]
  it.each(cases)('%s', async (_, given, expected) => {
    const options = typeof given === 'function' ? given() : given
    const issuer = await openIssuer()
    const ask = await start([of(issuer)])
    expect(await ask(issuer.token(options))).toMatchObject(expected)
    expect(await ask(issuer.token(options))).toMatchObject(expected)
  })

  it.each([
    ['no token at all', 'x'],
    ['three empty parts', '..'],
    ['a long one', 'x'.repeat(15_000)],
  ])('that is %s is refused', async (_, token) => {
    const ask = await start([of(await openIssuer())])
    expect(await ask(token)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
  })

  it('with a changed signature is refused, also once it was accepted without the change', async () => {
    const issuer = await openIssuer()
    const ask = await start([of(issuer)])
    const token = issuer.token()
    expect(await ask(token)).toMatchObject({ me: 'ada' })
    const [header, payload, signature = ''] = token.split('.')
    const changed = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`
    expect(await ask(`${header}.${payload}.${changed}`)).toMatchObject(
      refused('The format or the signature of the token is not valid.'),
    )
  })

  it('is not needed unless the config says so', async () => {
    const issuer = await openIssuer()
    expect(await (await start([of(issuer)]))()).toMatchObject({ status: 200, me: 'nobody' })
    const ask = await start([of(issuer)], { required: true })
    expect(await ask()).toMatchObject({ status: 401, code: 'UNAUTHENTICATED', challenge: 'Bearer' })
    expect(await ask(issuer.token())).toMatchObject({ status: 200, me: 'ada' })
  })

  it('that is not valid is never taken for none', async () => {
    const ask = await start([of(await openIssuer())])
    expect(await ask('x')).toMatchObject({ status: 401, challenge: 'Bearer error="invalid_token"' })
    expect(await ask(undefined, { authorization: 'Basic eDp5' })).toMatchObject({ status: 401 })
  })

  it('may stand in another header, without a word before it, or in a cookie', async () => {
    const issuer = await openIssuer()
    const ask = await start([of(issuer)], { header: 'X-Token', scheme: '', cookie: 'session' }, 'production')
    expect(await ask(undefined, { 'x-token': issuer.token() })).toMatchObject({ me: 'ada' })
    expect(await ask(undefined, { cookie: `a=b; session=${issuer.token()}` })).toMatchObject({ me: 'ada' })
    expect(await ask(issuer.token())).toMatchObject({ me: 'nobody' })
  })

  it('stops being accepted when it expires, though it was accepted before', async () => {
    const issuer = await openIssuer()
    const ask = await start([of(issuer)])
    const token = issuer.token({ claims: { exp: now() + 60 } })
    expect(await ask(token)).toMatchObject({ me: 'ada' })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 })
    onTestFinished(() => void vi.useRealTimers())
    expect(await ask(token)).toMatchObject(refused('The token has expired.'))
  })

  it('with a secret shared with the issuer is accepted, and no other', async () => {
    const issuer = await openIssuer()
    const secret = 'a secret of thirty-two characters'
    const ask = await start([{ issuer: issuer.url, audience: AUDIENCE, secret }])
    expect(await ask(issuer.token({ alg: 'HS256', secret }))).toMatchObject({ me: 'ada' })
    expect(await ask(issuer.token({ alg: 'HS256', secret: `${secret}!` }))).toMatchObject({ status: 401 })
    expect(await ask(issuer.token())).toMatchObject({ status: 401 })
    expect(issuer.asked).toBe(0)
  })
})

describe('issuers', () => {
  it('each speaks for itself: the key of one is none of the other', async () => {
    const [first, second] = [await openIssuer(), await openIssuer()]
    const ask = await start([of(first), of(second)])
    expect(await ask(first.token())).toMatchObject({ me: 'ada' })
    expect(await ask(second.token())).toMatchObject({ me: 'ada' })
    // Both have a key of the same name.
    expect(await ask(second.token({ claims: { iss: first.url } }))).toMatchObject({ status: 401 })
  })

  it('may take a new key at any time, and drop the old one', async () => {
    const issuer = await openIssuer()
    const ask = await start([of(issuer)])
    const old = issuer.token()
    expect(await ask(old)).toMatchObject({ me: 'ada' })
    passSeconds(31)
    issuer.rotate({ keep: false })
    expect(await ask(issuer.token())).toMatchObject({ me: 'ada' })
    expect(await ask(old)).toMatchObject({ status: 401 })
  })

  it('are asked once, by whoever comes first, and for an unknown key at most once in 30 seconds', async () => {
    const issuer = await openIssuer()
    const ask = await start([of(issuer)])
    await Promise.all(Array.from({ length: 20 }, () => ask(issuer.token())))
    for (let count = 0; count < 20; count++) await ask(issuer.token({ kid: `unknown-${count}` }))
    expect(issuer.asked).toBe(1)
  })

  it('that fail: 503 with Retry-After for who needs them, nothing for who does not', async () => {
    const issuer = await openIssuer()
    issuer.behave('fail')
    const ask = await start([of(issuer)])
    const answer = await ask(issuer.token())
    expect(answer).toMatchObject({
      status: 503,
      code: 'SERVICE_UNAVAILABLE',
      message: 'The token cannot be verified now; try again later.',
    })
    expect(Number(answer.retryAfter)).toBeGreaterThan(0)
    expect(await ask()).toMatchObject({ status: 200, me: 'nobody' })
    issuer.behave('well')
    expect(await ask(issuer.token())).toMatchObject({ status: 503 })
    passSeconds(31)
    expect(await ask(issuer.token())).toMatchObject({ me: 'ada' })
  })

  it('that hang: 503 for who needs them, and who does not waits for none of it', async () => {
    const [known, hanging] = [await openIssuer(), await openIssuer()]
    hanging.behave('hang')
    const ask = await start([of(known), of(hanging)])
    expect(await ask(known.token())).toMatchObject({ me: 'ada' })
    let answered = 0
    const waiting = Array.from({ length: 40 }, async (_, index) => {
      const answer = await ask(hanging.token({ claims: { sub: `user-${index}` } }))
      answered++
      return answer
    })
    // The gateway waits five seconds for keys; a busy machine has fewer rounds in that time.
    const end = performance.now() + 3_000
    for (let count = 0; count < 15 && performance.now() < end; count++) {
      // A token of its own each, so that none is remembered.
      expect(await ask(known.token({ claims: { sub: `ada-${count}` } }))).toMatchObject({
        me: `ada-${count}`,
      })
      expect(await ask()).toMatchObject({ me: 'nobody' })
    }
    expect(answered).toBe(0)
    for (const answer of await Promise.all(waiting)) {
      expect(answer).toMatchObject({
        status: 503,
        code: 'SERVICE_UNAVAILABLE',
        message: 'The token cannot be verified now; try again later.',
      })
      expect(Number(answer.retryAfter)).toBeGreaterThan(0)
    }
    expect(hanging.asked).toBe(1)
  }, 30_000)
})
