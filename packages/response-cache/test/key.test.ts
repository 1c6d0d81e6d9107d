import * as fc from 'fast-check'
import { buildSchema, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { type DocumentProfile, profileDocument } from '../src/document/document-profile.ts'
import { createRequestKeyFactory, type RequestIdentity } from '../src/document/request-key.ts'
import { typeDefs } from './kit.ts'

const schema = buildSchema(typeDefs)
const keyOf = createRequestKeyFactory()

interface Spelled {
  readonly query: string
  readonly variables?: Record<string, unknown> | null | undefined
  readonly operationName?: string | undefined
  readonly headers?: Record<string, string> | undefined
}

const profiles = new Map<string, DocumentProfile>()

function key({ query, variables, operationName, headers }: Spelled): string | undefined {
  const spelling = `${operationName}\n${query}`
  const profile =
    profiles.get(spelling) ??
    profileDocument(schema, parse(query), operationName, {
      idFields: ['id'],
      varyHeaders: ['Authorization', 'X-Tenant'],
    })
  if (profile) profiles.set(spelling, profile)
  return profile && keyOf(profile, { operationName, variables, headers: new Headers(headers) })?.key
}

const base = 'query A($limit: Int, $filter: String) { products(limit: $limit, filter: $filter) { id name } }'

const whole: Spelled = { query: 'query { me { id name } }' }
const deferredByVariable: Spelled = {
  query: 'query ($d: Boolean!) { me { id ... @defer(if: $d) { name } } }',
  variables: { d: true },
}

describe('the key is the same for', () => {
  const rows: readonly [string, Spelled, Spelled][] = [
    ['whitespace', { query: '{ users { id } }' }, { query: '{\n\n  users  {\tid, }\n}' }],
    ['comments', { query: '{ users { id } }' }, { query: '# hello\n{ users { id # id\n } }' }],
    [
      'the order of variables',
      { query: base, variables: { limit: 1, filter: 'a' } },
      { query: base, variables: { filter: 'a', limit: 1 } },
    ],
    [
      'undeclared variables',
      { query: base, variables: { limit: 1 } },
      { query: base, variables: { limit: 1, x: 2 } },
    ],
    ['no variables and an empty object', { query: base, variables: null }, { query: base, variables: {} }],
    [
      'operations that were not selected',
      { query: 'query A { users { id } }', operationName: 'A' },
      {
        query: 'query A { users { id } } query B { me { id } } fragment F on User { id }',
        operationName: 'A',
      },
    ],
    [
      'headers that do not vary',
      { query: '{ users { id } }' },
      { query: '{ users { id } }', headers: { 'x-request-id': '1' } },
    ],
    ['@defer', { query: '{ me { id name } }' }, { query: '{ me { id ... @defer(label: "x") { name } } }' }],
    ['@defer with a variable', whole, deferredByVariable],
  ]
  it.each(rows)('%s', (_name, one, other) => {
    expect(key(one)).toBe(key(other))
    expect(key(one)).toBeTypeOf('string')
  })
})

describe('the key differs for', () => {
  const rows: readonly [string, Spelled, Spelled][] = [
    [
      'the order of arguments (kept as written)',
      { query: '{ products(limit: 1, filter: "a") { id } }' },
      { query: '{ products(filter: "a", limit: 1) { id } }' },
    ],
    ['a variable', { query: base, variables: { limit: 1 } }, { query: base, variables: { limit: 2 } }],
    [
      'an absent and a null variable',
      { query: base, variables: {} },
      { query: base, variables: { limit: null } },
    ],
    [
      'a number and its text',
      { query: base, variables: { filter: 1 } },
      { query: base, variables: { filter: '1' } },
    ],
    ['whitespace inside a string', { query: '{ echo(text: "a b") }' }, { query: '{ echo(text: "a  b") }' }],
    [
      'the selected operation',
      { query: 'query A { users { id } } query B { me { id } }', operationName: 'A' },
      { query: 'query A { users { id } } query B { me { id } }', operationName: 'B' },
    ],
    [
      'an operation name that was given and one that was not',
      { query: 'query A { users { id } }', operationName: 'A' },
      { query: 'query A { users { id } }' },
    ],
    ['an alias', { query: '{ users { id } }' }, { query: '{ users { x: id } }' }],
    [
      'each vary header',
      { query: '{ me { id } }', headers: { authorization: 'a' } },
      { query: '{ me { id } }', headers: { 'x-tenant': 'a' } },
    ],
    [
      'an absent and an empty header',
      { query: '{ me { id } }' },
      { query: '{ me { id } }', headers: { authorization: '' } },
    ],
  ]
  it.each(rows)('%s', (_name, one, other) => {
    expect(key(one)).not.toBe(key(other))
  })
})

it('variables that are not plain JSON have no key', () => {
  for (const filter of [new Date(), () => 1, Number.NaN, new Map(), [1n]]) {
    expect(key({ query: base, variables: { filter } })).toBeUndefined()
  }
})

it('no two different requests share a key', () => {
  const runs = Number(process.env['KEY_PAIRS'] ?? 5_000)
  const json = fc.jsonValue({ maxDepth: 2 })
  const request = fc.record({
    operationName: fc.constantFrom(undefined, 'A', 'B'),
    fields: fc.subarray(['id', 'name', 'x: name', '__typename'], { minLength: 1 }),
    variables: fc.dictionary(
      fc.constantFrom('limit', 'filter'),
      fc.oneof(json, fc.constantFrom('', '1', 1, -0, 0, null)),
    ),
    headers: fc.dictionary(
      fc.constantFrom('authorization', 'x-tenant'),
      fc.constantFrom('', 'a', 'b', 'ab', '1:a'),
    ),
  })
  const seen = new Map<string, string>()
  fc.assert(
    fc.property(request, ({ operationName, fields, variables, headers }) => {
      const selection = `products(limit: $limit, filter: $filter) { ${fields.join(' ')} }`
      const operation = (name: string): string =>
        `query ${name}($limit: Int, $filter: String) { ${selection} }`
      const query = operationName ? `${operation('A')} ${operation('B')}` : operation('A')
      const made = key({ query, operationName, variables: variables as Record<string, unknown>, headers })
      const identity = JSON.stringify([
        operationName ?? null,
        fields,
        canonical(variables),
        headers['authorization'] ?? null,
        headers['x-tenant'] ?? null,
      ])
      if (made === undefined) throw new Error('no key')
      const other = seen.get(made)
      if (other !== undefined && other !== identity) throw new Error(`${identity} and ${other} share ${made}`)
      seen.set(made, identity)
    }),
    { numRuns: runs },
  )
  expect(new Set(seen.values()).size).toBe(seen.size)
}, 120_000)

/** A second, independent spelling of "the same value": entries sorted, types and -0 kept. */
function canonical(value: unknown): unknown {
  if (Object.is(value, -0)) return ['negative zero']
  if (Array.isArray(value)) return ['list', ...value.map(canonical)]
  if (typeof value !== 'object' || value === null) return value
  return [
    'object',
    ...Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, canonical(member)]),
  ]
}

describe('each part of a request tells its key apart, also where the body is known', () => {
  const headers = new Headers({ authorization: 'a' })
  /** A second value of each part, without which a new one does not compile. */
  const others: Required<RequestIdentity> = {
    operationName: 'B',
    variables: { limit: 2 },
    headers: new Headers({ authorization: 'b' }),
    session: 's',
    access: 'r',
  }
  const options = { idFields: ['id'], varyHeaders: ['authorization'] }
  const profile = profileDocument(schema, parse(base), undefined, options) as DocumentProfile
  const identity: RequestIdentity = { operationName: 'A', variables: { limit: 1 }, headers }

  it.each(Object.keys(others) as (keyof RequestIdentity)[])('%s', (part) => {
    const other: RequestIdentity = { ...identity, [part]: others[part] }
    const bytes = {}
    const same = part === 'operationName' || part === 'variables' ? undefined : bytes
    const first = keyOf(profile, identity, bytes)?.key
    const second = keyOf(profile, other, same)?.key
    expect(second).not.toBe(first)
    expect(keyOf(profile, other, same)?.key).toBe(second)
    expect(keyOf(profile, identity, bytes)?.key).toBe(first)
  })
})
