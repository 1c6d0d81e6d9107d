import { makeExecutableSchema } from '@graphql-tools/schema'
import * as fc from 'fast-check'
import { graphql, type GraphQLSchema, printSchema, validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { mergeSources, nameSource, SourceNamesError, type SourceNames } from '../src/index.ts'

const typeDefs = `
  interface Named { name: String, "Who it is to." of(role: Role = ADMIN, name: NameInput = { first: "a", last: "b" }): String }
  type User implements Named { id: ID!, name: String, email: String, of(role: Role = ADMIN, name: NameInput = { first: "a", last: "b" }): String, boss: User, things: [Thing!] }
  type Robot implements Named { name: String, of(role: Role = ADMIN, name: NameInput = { first: "a", last: "b" }): String }
  union Thing = User | Robot
  enum Role { ADMIN GUEST }
  input NameInput { first: String = "f", last: String, more: [NameInput!] }
  input FindInput { name: NameInput!, role: Role }
  scalar Stamp
  type Query { user(id: ID! = "x", limit: Int = 3): User, find(input: FindInput!): [Thing!], stamp: Stamp, secret: Secret }
  type Secret { key: String }
  type Mutation { addUser(input: NameInput!): User }
`
const seen: unknown[] = []
const echo = (_: unknown, args: object): string => {
  seen.push(args)
  return JSON.stringify(args)
}
const user = { id: '1', name: 'n', email: 'e', __typename: 'User' }
const resolvers = {
  User: { of: echo, boss: () => user, things: () => [user, { name: 'r', __typename: 'Robot' }] },
  Robot: { of: echo },
  Query: {
    user: (_: unknown, args: object) => (seen.push(args), user),
    find: (_: unknown, args: object) => (seen.push(args), [user, { name: 'r', __typename: 'Robot' }]),
  },
  Mutation: { addUser: (_: unknown, args: object) => (seen.push(args), user) },
  Role: { ADMIN: 1, GUEST: 2 },
}
const schema = makeExecutableSchema({ typeDefs, resolvers })

function named(options: SourceNames): GraphQLSchema {
  const { source } = nameSource({ id: 's', schema, fields: [] }, options)
  const merged = mergeSources(null, [source]).schema
  expect(validateSchema(merged)).toEqual([])
  return merged
}

function findingsOf(options: SourceNames): readonly string[] {
  try {
    nameSource({ id: 's', schema, fields: [] }, options)
    return []
  } catch (error) {
    if (error instanceof SourceNamesError) return error.findings.map(({ message }) => message)
    throw error
  }
}

async function ask(given: GraphQLSchema, source: string): Promise<unknown> {
  const { data, errors } = await graphql({ schema: given, source })
  return errors ?? JSON.parse(JSON.stringify(data))
}

it('a prefix stands before types and root fields, not before scalars', async () => {
  const sdl = printSchema(named({ prefix: 'shop' }))
  expect(sdl).toContain('type ShopUser implements ShopNamed')
  expect(sdl).toContain('shopFind(input: ShopFindInput!): [ShopThing!]')
  expect(sdl).toContain('union ShopThing = ShopUser | ShopRobot')
  expect(sdl).toContain('scalar Stamp')
  expect(printSchema(named({ prefix: 'shop_' }))).toContain(
    'shop_user(id: ID! = "x", limit: Int = 3): Shop_User',
  )
  expect(printSchema(named({ prefix: { types: 'S_' } }))).toContain(
    'user(id: ID! = "x", limit: Int = 3): S_User',
  )
  expect(await ask(named({ prefix: 'shop' }), '{ shopFind(input: { name: {} }) { __typename } }')).toEqual({
    shopFind: [{ __typename: 'ShopUser' }, { __typename: 'ShopRobot' }],
  })
})

it('a name of its own has no prefix, and patterns keep the part that they do not name', async () => {
  const sdl = printSchema(
    named({
      prefix: 'X',
      rename: { User: 'Person', '*Input': '*Data', 'Query.*': 'get_*', 'Query.user': 'me' },
    }),
  )
  expect(sdl).toContain('type Person implements XNamed')
  expect(sdl).toContain('me(id: ID! = "x", limit: Int = 3): Person')
  expect(sdl).toContain('get_find(input: FindData!): [XThing!]')
  expect(sdl).toContain('XAddUser(')
})

it('a field of an interface is renamed in all types that implement it, with arguments and their defaults', async () => {
  const given = named({
    rename: {
      'Named.of': 'for',
      'Named.of(name:)': 'called',
      'NameInput.first': 'given',
      'Role.ADMIN': 'BOSS',
    },
  })
  expect(
    printSchema(given).match(/for\(role: Role = BOSS, called: NameInput = \{ ?given: "a", last: "b" ?\}\)/g),
  ).toHaveLength(3)
  const answer = await ask(
    given,
    '{ user { for, other: for(role: GUEST, called: { last: "l", more: [{ given: "g" }] }) } }',
  )
  expect(answer).toEqual({
    user: {
      for: JSON.stringify({ role: 1, name: { first: 'a', last: 'b' } }),
      other: JSON.stringify({ role: 2, name: { first: 'f', last: 'l', more: [{ first: 'g' }] } }),
    },
  })
})

it('what is hidden is nowhere: not in introspection, queries, fragments, inputs, or on members of unions', async () => {
  const given = named({
    hide: [
      'User.email',
      'Secret',
      'Robot',
      'Query.user(limit:)',
      'NameInput.first',
      'Role.GUEST',
      'Mutation.*',
    ],
  })
  const sdl = printSchema(given)
  for (const word of ['email', 'Secret', 'secret', 'Robot', 'limit', 'first', 'GUEST', 'Mutation'])
    expect(sdl).not.toContain(word)
  for (const query of [
    '{ user { email } }',
    '{ user { ... on Named { email } } }',
    'fragment F on User { email } { user { ...F } }',
    '{ secret { key } }',
    '{ find(input: { name: { first: "x" } }) { __typename } }',
  ])
    expect(JSON.stringify(await ask(given, query))).toContain('message')
  const types = JSON.stringify(
    await ask(given, '{ __schema { types { name fields { name args { name } } } } }'),
  )
  expect(types).not.toMatch(/email|Secret|Robot|limit/)
  // Defaults of what is hidden hold.
  seen.length = 0
  await ask(given, '{ user { id } find(input: { name: { last: "l" } }) { ... on User { id } } }')
  expect(seen).toEqual([{ id: 'x', limit: 3 }, { input: { name: { first: 'f', last: 'l' } } }])
  expect(JSON.stringify(await ask(given, '{ user { things { ... on User { id } } } }'))).toContain(
    'is hidden from clients',
  )
})

it('! keeps what a pattern takes', () => {
  const sdl = printSchema(named({ hide: ['Query.*', '!Query.u*'] }))
  expect(sdl).toContain('user(')
  expect(sdl).not.toContain('find(')
})

describe('all that is wrong is told at once', () => {
  it.each<[string, SourceNames, RegExp[]]>([
    [
      'what the source does not have, with what is like it',
      { rename: { Usr: 'A', 'User.nmae': 'b', 'Query.user(it:)': 'c' }, hide: ['Nothing*', 'User.emial'] },
      [
        /hide: "Nothing\*" is not in the source/,
        /"User.emial".*did you mean "User.email"/,
        /"Usr".*did you mean "User"/,
        /"User.nmae".*"User.name"/,
        /"Query.user\(it:\)".*"Query.user\(id:\)"/,
      ],
    ],
    [
      'no coordinates, and roots',
      { rename: { 'a b': 'A', Query: 'Q' }, hide: ['User.', 'Query.user(id)'] },
      [
        /"User." is not a schema coordinate/,
        /"Query.user\(id\)" is not a schema coordinate/,
        /"a b" is not/,
        /"Query" is a root type/,
      ],
    ],
    [
      'names that GraphQL does not allow, or has',
      {
        rename: {
          User: '1',
          Robot: '__R',
          Role: 'Int',
          'Role.ADMIN': 'true',
          'User.email': 'e-mail',
          Thing: 'Query',
        },
      },
      [
        /User cannot be called "1"/,
        /User.email cannot.*"e-mail"/,
        /Robot cannot.*"__R"/,
        /Thing cannot.*"Query"/,
        /Role cannot.*"Int"/,
        /Role.ADMIN cannot.*"true", because GraphQL does not allow enum values called true/,
      ],
    ],
    [
      'names that two would have',
      { rename: { User: 'Robot', 'User.email': 'id', 'Query.user(id:)': 'limit', 'Role.ADMIN': 'GUEST' } },
      [
        /User.id and User.email would have the same name "id" in User/,
        /User and Robot would have the same name "Robot"/,
      ],
    ],
    [
      'the last of a type, and what is required',
      { hide: ['Secret.key', 'Role.*', 'FindInput.name', 'Query.find(input:)', 'User', 'Robot'] },
      [
        /removes all fields of Secret; hide "Secret"/,
        /removes all values of Role/,
        /removes FindInput.name, which is required/,
        /removes Query.find\(input:\)/,
        /removes all members of Thing/,
      ],
    ],
    [
      'a field of an interface on its own, and what is hidden as well',
      { rename: { 'User.name': 'x', 'User.email': 'y' }, hide: ['User.email'] },
      [
        /User.name must have the same name in the type and in its interface; rename "Named.name"/,
        /"User.email" is hidden/,
      ],
    ],
  ])('%s', (_, options, expected) => {
    const findings = findingsOf(options)
    for (const one of expected) expect(findings.join('\n')).toMatch(one)
    expect(findings.length).toBeGreaterThanOrEqual(expected.length)
  })

  it('whatever the words are, it is a schema or a list of findings', () => {
    const part = fc.constantFrom(
      'User',
      'Robot',
      'Named',
      'name',
      'of',
      'Query',
      'user',
      '*',
      'U*',
      'Role',
      'ADMIN',
      'NameInput',
      'first',
      'x y',
      '',
    )
    const any = fc
      .tuple(fc.constantFrom('', '!'), part, fc.option(part), fc.option(part))
      .map(
        ([not, type, field, arg]) =>
          `${not}${type}${field === null ? '' : `.${field}`}${arg === null ? '' : `(${arg}:)`}`,
      )
    const there = fc.constantFrom(
      'User',
      'User.email',
      'Robot',
      'Query.stamp',
      'Role.GUEST',
      'Query.user(limit:)',
      'NameInput.last',
      'Secret',
    )
    const coordinate = fc.oneof({ weight: 6, arbitrary: there }, { weight: 1, arbitrary: any })
    const name = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('New', 'n2', 'Other', 'x') },
      { weight: 1, arbitrary: part },
    )
    const options: fc.Arbitrary<SourceNames> = fc.record({
      prefix: fc.constantFrom('', 'a', '_', '1', '__'),
      rename: fc.dictionary(coordinate, name, { maxKeys: 4 }),
      hide: fc.array(coordinate, { maxLength: 3 }),
    })
    let served = 0
    fc.assert(
      fc.property(options, (given) => {
        if (findingsOf(given).length > 0) return
        const { source } = nameSource({ id: 's', schema, fields: [] }, given)
        expect(
          validateSchema(mergeSources(null, [source]).schema).filter(
            ({ message }) => !/Query root/.test(message),
          ),
        ).toEqual([])
        served++
      }),
      { numRuns: 300 },
    )
    expect(served).toBeGreaterThan(20)
  })
})
