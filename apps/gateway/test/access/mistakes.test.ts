import * as fc from 'fast-check'
import { buildSchema, isObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createAccessRules } from '../../src/access/rules/access-rules.ts'
import { checkAccess } from '../../src/access/rules/check-access.ts'
import { checkAuth } from '../../src/access/tokens/check-auth.ts'
import { parseConfig } from '../../src/config/file/parse-config.ts'
import type { IssuerConfig, JwtConfig } from '../../src/access/access-types.ts'
import type { GatewayConfig } from '../../src/config/types.ts'
import { createLogger } from '../../src/logging/logger.ts'
import { openGateway, startGateway } from '../support/gateway.ts'

const schema = buildSchema(`
  type Query { a(input: In, sort: Sort, at: Moment): A u: U n: N day: Day! state: [State!] }
  interface N { q: Int }
  type A implements N { q: Int list: [[A]] }
  type B { b: String }
  union U = A | B
  input In { v: Int more: In }
  enum Sort { UP DOWN }
  enum State { ON OFF }
  scalar Moment
  scalar Day
`)

/** What a function throws; nothing: the empty text. */
function mistakeOf(run: () => unknown): string {
  try {
    run()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

describe('a rule', () => {
  it('on any type or field stands before something, or is refused at the start', () => {
    for (const type of Object.values(schema.getTypeMap())) {
      const fields = isObjectType(type) ? Object.keys(type.getFields()) : []
      for (const coordinate of [type.name, ...fields.map((name) => `${type.name}.${name}`)]) {
        const rule = { [coordinate]: { authenticated: true } } as const
        const { guarded } = createAccessRules(schema, rule, {
          holds: () => false,
          comparesClaims: () => true,
        })
        const check = (): void => checkAccess(schema, { fields: rule })
        const isBuiltIn = type.name.startsWith('__') || /^(String|Int|Boolean)$/.test(coordinate)
        const isOne = guarded.size > 0 && !isBuiltIn
        expect(mistakeOf(check)).toMatch(isOne ? /^$/ : /expected a field or type|no field returns/)
      }
    }
  })

  it('that says nothing is none', () => {
    const config = { access: { fields: { 'Query.a': {} } } }
    expect(() => parseConfig(config)).toThrow('the rule has no conditions; set authenticated')
  })

  const lists = fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }), { maxLength: 3 })
  it.each(['requiresScopes', 'policy'] as const)(
    '@%s whose alternatives are none is refused at the start, and lets nobody in',
    async (directive) => {
      const argument = directive === 'policy' ? 'policies' : 'scopes'
      const any = fc.asyncProperty(lists, async (alternatives) => {
        const isEmpty = alternatives.length === 0 || alternatives.some((all) => all.length === 0)
        const typeDefs = `type Query { a: Int @${directive}(${argument}: ${JSON.stringify(alternatives)}) }`
        const policies = { a: () => true, b: () => true, c: () => true }
        const mistake = await startGateway({ typeDefs, access: { policies } }).then(
          ({ gateway }) => gateway.close().then(() => ''),
          (error: Error) => error.message,
        )
        expect(mistake).toMatch(isEmpty ? /Query\.a: a list of scopes or policies is empty/ : /^$/)
      })
      await fc.assert(any, { numRuns: 12 })
    },
  )

  it.each(['field', 'type'])(
    'of a policy without a meaning in SDL is refused at the start, on a %s',
    async (place) => {
      const rule = '@policy(policies: [["staff"], ["stuff"]])'
      const typeDefs = `type Query { a: A ${place === 'field' ? rule : ''} } type A ${place === 'type' ? rule : ''} { x: Int }`
      await expect(startGateway({ typeDefs, access: { policies: { staff: () => true } } })).rejects.toThrow(
        /the policy "stuff" does not exist; define it in access\.policies/,
      )
    },
  )
})

describe('issuers', () => {
  const check = (issuers: readonly IssuerConfig[], jwt: Partial<JwtConfig> = {}): void =>
    checkAuth({ auth: { jwt: { issuers, ...jwt } } })
  const one = { issuer: 'https://id.example', audience: 'api' }
  const secret = 'x'.repeat(32)

  it('of which one could never verify a token are refused', () => {
    const algorithms = fc.uniqueArray(fc.constantFrom('RS256', 'ES256', 'EdDSA', 'HS256', 'HS512'), {
      minLength: 1,
    })
    const any = fc.property(algorithms, fc.boolean(), (given, isSecret) => {
      const issuer = { ...one, ...(isSecret && { secret }), algorithms: given } as IssuerConfig
      const wrong = given.find((name) => name.startsWith('HS') !== isSecret)
      const mistake = mistakeOf(() => check([issuer]))
      expect(mistake).toContain(
        wrong === undefined ? '' : `auth.jwt.issuers[0].algorithms: ${wrong} requires a`,
      )
      expect(mistake === '').toBe(wrong === undefined)
    })
    fc.assert(any)
  })

  it.each<[string, readonly IssuerConfig[], Partial<JwtConfig>, string]>([
    [
      'two of one name',
      [one, { ...one, audience: 'b' }],
      {},
      'auth.jwt.issuers[1].issuer: issuers[0] has the same',
    ],
    [
      'a secret beside keys',
      [{ ...one, secret, jwksUri: 'https://k' }],
      {},
      'secret and jwksUri cannot be combined',
    ],
    [
      'a claim in the place of the token',
      [one],
      { forwardClaims: { Authorization: 'sub' } },
      'already carries the token',
    ],
    [
      'a claim in the place of its header',
      [one],
      { header: 'X-T', forwardClaims: { 'x-t': 'sub' } },
      'already carries the token',
    ],
  ])('with %s are refused', (_, issuers, jwt, message) => {
    expect(() => check(issuers, jwt)).toThrow(message)
  })
})

it.each([
  ['auth.jwt.header', (name: string) => ({ auth: { jwt: { issuers: [], header: name } } })],
  [
    'auth.jwt.forwardClaims',
    (name: string) => ({ auth: { jwt: { issuers: [], forwardClaims: { [name]: 'a' } } } }),
  ],
  [
    'rateLimit.rules[0].by',
    (name: string) => ({ rateLimit: { rules: [{ by: { header: name }, max: 1, windowSeconds: 1 }] } }),
  ],
])('%s takes what a header can be called', (path, config) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom('x y', 'ä', '', 'x:', 'X-Api-Key')), (name) => {
      const isName = mistakeOf(() => new Headers().get(name)) === ''
      const mistake = mistakeOf(() => parseConfig(config(name)))
      expect(mistake.includes(path)).toBe(!isName)
    }),
  )
})

it('a rate by a claim wants someone who reads tokens', async () => {
  const config = {
    typeDefs: 'type Query { a: Int }',
    rateLimit: { rules: [{ by: { claim: 'sub' }, max: 1, windowSeconds: 1 }] },
  }
  await expect(startGateway(config)).rejects.toThrow('rateLimit.rules[0].by: requests have no claims')
})

describe('rules, where nobody is ever known to ask', () => {
  const policies = { staff: { claim: 'role', is: ['staff'] }, anyone: () => true }
  const issuers = [{ issuer: 'https://id.example', audience: 'api' }]
  const EMAIL = { fields: { 'User.email': { authenticated: true } } } as const

  it.each<[string, Partial<GatewayConfig>, string]>([
    ['of the config are noted', { access: EMAIL }, 'User.email'],
    [
      'of scopes and claims are noted',
      { access: { fields: { User: { scopes: ['a'] }, 'Query.me': { policies: ['staff'] } }, policies } },
      'User, Query.me',
    ],
    [
      'of directives are noted',
      {
        typeDefs: 'type Query { me: User, you: Int @authenticated } type User @authenticated { email: Int }',
      },
      'Query.you, User',
    ],
    [
      'that are many are noted in a line',
      {
        typeDefs: `type Query { ${Array.from({ length: 12 }, (_, at) => `q${at}: Int @authenticated`).join(' ')} }`,
      },
      'Query.q0, Query.q1, Query.q2, Query.q3, Query.q4, Query.q5, Query.q6, Query.q7, Query.q8, Query.q9 and 2 more',
    ],
    ['of code may hold', { access: { fields: { User: { policies: ['anyone'] } }, policies } }, ''],
    ['are none', { access: { refuse: 'operation' } }, ''],
    ['may hold where tokens are read', { access: EMAIL, auth: { jwt: { issuers } } }, ''],
    ['may hold where code says who asks', { access: EMAIL, plugins: [{}] }, ''],
  ])('%s', async (_, config, places) => {
    const lines: string[] = []
    const logger = await createLogger({ destination: { write: (line) => lines.push(line) } })
    const typeDefs = 'type Query { me: User } type User { email: String }'
    const { notes } = await openGateway({ typeDefs, ...config }, { logger })
    const noted = notes.filter(({ source }) => source === 'access').map(({ note }) => note)
    const named = noted.map((note) =>
      note.replace(/^access to (.*) is always refused because the rules .*; set auth\.jwt.*$/, '$1'),
    )
    expect(named.join()).toBe(places)
    expect(lines.filter((line) => line.includes('is always refused'))).toHaveLength(noted.length)
  })
})
