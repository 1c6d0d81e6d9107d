import { createHmac } from 'node:crypto'

/** One who asks: request headers, by lower-case names. */
export interface User {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
}

export const ISSUER = 'https://id.example'
export const AUDIENCE = 'library'
/** There is nothing behind it. */
export const SECRET = 'a secret of the pairs, of thirty-two bytes or more'

/** Each differs from the first by one header alone, or shows no token. */
export const USERS: readonly User[] = [
  user('ada', { authorization: tokenOf('ada'), 'x-tenant': 'north', 'x-lang': 'en' }),
  user('ada of the south', { authorization: tokenOf('ada'), 'x-tenant': 'south', 'x-lang': 'en' }),
  user('ada in French', { authorization: tokenOf('ada'), 'x-tenant': 'north', 'x-lang': 'fr' }),
  user('bob', { authorization: tokenOf('bob'), 'x-tenant': 'north', 'x-lang': 'en' }),
  user('nobody', {}),
  user('ada, who says that she is bob', {
    authorization: tokenOf('ada'),
    'x-tenant': 'north',
    'x-lang': 'en',
    'x-user': 'bob',
  }),
  user('nobody, who says to be ada', { 'x-user': 'ada' }),
]

function user(name: string, headers: Readonly<Record<string, string>>): User {
  return { name, headers }
}

/** A bearer token that an issuer with the shared secret has signed. */
function tokenOf(sub: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  // The same text in every run: it is a part of what a seed decides.
  const claims = { iss: ISSUER, aud: AUDIENCE, sub, iat: 1_700_000_000, exp: 4_000_000_000 }
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `Bearer ${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`
}

/** Whose token it is. */
export function subjectOf(authorization: string): string {
  try {
    const claims = Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()
    return (JSON.parse(claims) as { sub: string }).sub
  } catch {
    return authorization
  }
}
