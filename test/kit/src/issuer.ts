import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { startRestBackend } from './rest-backend.ts'

export interface TokenOptions {
  /** Over those of a valid token of the issuer; undefined takes a claim out. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Of the token's header. Default `ES256`. */
  readonly alg?: 'RS256' | 'ES256' | 'none' | 'HS256'
  /** Default: the newest key. */
  readonly kid?: string
  /** For `HS256`. Default: the public key in PEM, as in an attack on verifiers that take it for a secret. */
  readonly secret?: string
}

/** Issues tokens, and serves the keys that they are verified with. */
export interface Issuer {
  /** Its name, and base address. */
  readonly url: string
  /** How often its keys were asked for. */
  readonly asked: number
  token(options?: TokenOptions): string
  /** From now on tokens are signed with a new key; whether the old one is still published. */
  rotate(options?: { readonly keep?: boolean }): void
  /** `hang`: its keys are not answered; `fail`: with HTTP 500. */
  behave(how: 'well' | 'hang' | 'fail'): void
  [Symbol.asyncDispose](): Promise<void>
}

interface Key {
  readonly kid: string
  readonly ES256: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  /** Made when a token is first signed with it: that takes long. */
  RS256?: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
}

export const AUDIENCE = 'the-api'

/** Starts an issuer like those of OpenID Connect, on a free port. */
export async function startIssuer(): Promise<Issuer> {
  let made = 0
  let keys: Key[] = []
  let asked = 0
  let behaviour: 'well' | 'hang' | 'fail' = 'well'
  const server = await startRestBackend(({ url }) => {
    if (url.pathname.endsWith('/openid-configuration')) {
      return { json: { issuer: server.url, jwks_uri: `${server.url}/keys` } }
    }
    asked += 1
    if (behaviour === 'hang') return { write: () => new Promise(() => {}) }
    return behaviour === 'fail' ? { status: 500 } : { json: { keys: keys.flatMap(published) } }
  })

  function rotate({ keep = true }: { readonly keep?: boolean } = {}): void {
    const kid = `key-${++made}`
    const key: Key = { kid, ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
    keys = keep ? [...keys, key] : [key]
  }
  rotate()
  const signing = new Map<string, Key>()

  function token({ claims = {}, alg = 'ES256', kid, secret }: TokenOptions = {}): string {
    for (const key of keys) signing.set(key.kid, key)
    const newest = keys.at(-1)?.kid ?? ''
    const now = Math.floor(Date.now() / 1000)
    const name = kid ?? newest
    const key = signing.get(name) ?? signing.get(newest)
    if (!key) throw new Error('The issuer has no key.')
    const payload = { iss: server.url, aud: AUDIENCE, sub: 'ada', iat: now, exp: now + 3600, ...claims }
    const signed = `${part({ alg, typ: 'JWT', kid: alg === 'RS256' ? `${name}-rsa` : name })}.${part(payload)}`
    return `${signed}.${signature(signed, key, alg, secret)}`
  }

  return {
    url: server.url,
    get asked() {
      return asked
    },
    token,
    rotate,
    behave: (how) => void (behaviour = how),
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

function published({ kid, RS256, ES256 }: Key): object[] {
  const jwk = ({ publicKey }: NonNullable<Key['RS256']>): object => publicKey.export({ format: 'jwk' })
  return [
    { ...jwk(ES256), kid, alg: 'ES256', use: 'sig' },
    ...(RS256 ? [{ ...jwk(RS256), kid: `${kid}-rsa`, alg: 'RS256', use: 'sig' }] : []),
  ]
}

function signature(text: string, key: Key, alg: TokenOptions['alg'], secret?: string): string {
  switch (alg) {
    case 'none':
      return ''
    case 'HS256': {
      const pem = key.ES256.publicKey.export({ type: 'spki', format: 'pem' })
      return createHmac('sha256', secret ?? pem)
        .update(text)
        .digest('base64url')
    }
    case 'RS256':
      key.RS256 ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
      return sign('sha256', Buffer.from(text), key.RS256.privateKey).toString('base64url')
    default: {
      const { privateKey } = key.ES256
      return sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString(
        'base64url',
      )
    }
  }
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
