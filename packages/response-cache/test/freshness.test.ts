import * as fc from 'fast-check'
import { createSchema, createYoga } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { createResponseCache, useResponseCache, type ResponseCacheOptions } from '../src/index.ts'
import { ask } from './kit.ts'

const typeDefs = /* GraphQL */ `
  interface Actor {
    id: ID!
    name: String!
  }
  type User implements Actor {
    id: ID!
    name: String!
    address: Address!
    team: Team
    boss: Actor
  }
  type Bot implements Actor {
    id: ID!
    ref: ID!
    name: String!
  }
  type Team {
    id: ID!
    title: String!
    leader: User
    members: [User!]!
    memberCount: Int!
  }
  type Address {
    city: String!
  }
  type Gone {
    reason: String!
  }
  union Found = User | Bot | Gone
  type Facet {
    letter: String!
    n: Int!
  }
  type UserPage {
    items: [User!]!
    total: Int!
    facets: [Facet!]!
    first: User
  }
  type Summary {
    users: Int!
    teams: Int!
  }
  type Query {
    user(id: ID!): User
    team(id: ID!): Team
    actor(id: ID!): Actor
    find(id: ID!): Found
    search(name: String!): Found
    users(name: String, limit: Int): [User!]!
    page(limit: Int): UserPage!
    youngest: User
    summary: Summary!
    userCount: Int!
  }
  type Payload {
    ok: Boolean!
    user: User
    others: [User!]!
    query: Query
  }
  type Done {
    ok: Boolean!
  }
  type Mutation {
    rename(id: ID!, name: String!): User
    renamed(id: ID!, name: String!): Payload!
    renameBot(id: ID!, name: String!): Bot
    swap(id: ID!, name: String!): Payload!
    register(name: String!): User!
    ban(id: ID!): Boolean!
    reset: Done!
    drop(id: ID!): User
    appoint(team: ID!, user: ID): Team
    move(id: ID!, team: ID): User
    breaks(id: ID!, name: String!): User
    all(name: String!): [User!]!
  }
`

interface User {
  readonly id: string
  name: string
  team: string | null
  readonly typename: 'User'
}
interface Bot {
  readonly id: string
  name: string
  readonly ref: string
  readonly typename: 'Bot'
}

/** A world in memory, and two servers in front of it: one with the cache, one without. */
function createWorld(options: ResponseCacheOptions) {
  const users = new Map<string, User>()
  const bots = new Map<string, Bot>([['b1', { id: 'b1', name: 'a', ref: '1', typename: 'Bot' }]])
  const teams = new Map([
    ['t1', { id: 't1', title: 'One', leader: '1' as string | null }],
    ['t2', { id: 't2', title: 'Two', leader: null as string | null }],
  ])
  let next = 1
  const add = (name: string): User => {
    const user: User = { id: String(next++), name, team: 't1', typename: 'User' }
    users.set(user.id, user)
    return user
  }
  add('a')
  add('b')
  const list = (name?: string | null, limit?: number | null): User[] =>
    [...users.values()].filter((user) => name == null || user.name === name).slice(0, limit ?? undefined)
  const shown = (user: User | undefined) => user && { ...user }
  const rename = (id: string, name: string): User | undefined => {
    const user = users.get(id)
    if (user) user.name = name
    return shown(user)
  }
  const anybody = (id: string) => shown(users.get(id)) ?? bots.get(id)
  const schema = createSchema({
    typeDefs,
    resolvers: {
      Query: {
        user: (_, { id }) => shown(users.get(id)),
        team: (_, { id }) => teams.get(id),
        actor: (_, { id }) => anybody(id),
        find: (_, { id }) => anybody(id) ?? { reason: 'gone', typename: 'Gone' },
        search: (_, { name }) =>
          shown(list(name)[0]) ??
          [...bots.values()].find((bot) => bot.name === name) ?? { reason: 'none', typename: 'Gone' },
        users: (_, { name, limit }) => list(name, limit).map(shown),
        page: (_, { limit }) => ({
          items: list(undefined, limit).map(shown),
          total: users.size,
          first: shown(list()[0]),
          facets: ['a', 'b'].map((letter) => ({ letter, n: list(letter).length })),
        }),
        youngest: () => shown(list().at(-1)),
        summary: () => ({ users: users.size, teams: teams.size }),
        userCount: () => users.size,
      },
      Actor: { __resolveType: ({ typename }: { typename: string }) => typename },
      Found: { __resolveType: ({ typename }: { typename: string }) => typename },
      Bot: { ref: (bot: Bot) => bot.ref },
      User: {
        address: (user: User) => ({ city: `city of ${user.name}` }),
        team: (user: User) => (user.team === null ? null : teams.get(user.team)),
        boss: (user: User) => (user.team === 't2' ? bots.get('b1') : shown(users.get('1'))),
      },
      Team: {
        leader: (team: { leader: string | null }) =>
          team.leader === null ? null : shown(users.get(team.leader)),
        members: (team: { id: string }) =>
          list()
            .filter((user) => user.team === team.id)
            .map(shown),
        memberCount: (team: { id: string }) => list().filter((user) => user.team === team.id).length,
      },
      Mutation: {
        rename: (_, { id, name }) => rename(id, name),
        renamed: (_, { id, name }) => ({ ok: true, user: rename(id, name), others: [] }),
        renameBot(_, { id, name }) {
          const bot = bots.get(id)
          if (bot) bot.name = name
          return bot
        },
        swap(_, { id, name }) {
          const others = list()
            .filter((user) => user.id !== id)
            .map(({ id: other }) => rename(other, `not ${name}`))
          return { ok: true, user: rename(id, name), others }
        },
        register: (_, { name }) => shown(add(name)),
        ban: (_, { id }) => users.delete(id),
        reset() {
          for (const user of users.values()) user.name = 'a'
          return { ok: true }
        },
        drop(_, { id }) {
          const user = users.get(id)
          users.delete(id)
          return user
        },
        appoint(_, { team: id, user }) {
          const team = teams.get(id)
          if (team) team.leader = user ?? null
          return team
        },
        move(_, { id, team }) {
          const user = users.get(id)
          if (user) user.team = team ?? null
          return shown(user)
        },
        breaks(_, { id, name }) {
          rename(id, name)
          throw new Error('after the commit')
        },
        all: (_, { name }) => list().map(({ id }) => rename(id, name)),
      },
    },
  })
  for (const [typeName, name, types] of [
    ['Team', 'memberCount', ['User']],
    // Nothing of a Bot's own says who it is the boss of: a team of the user does.
    ['User', 'boss', ['User', 'Bot']],
  ] as const) {
    const type = schema.getType(typeName)
    if (type && 'getFields' in type)
      Object.assign((type.getFields() as Record<string, { extensions: object }>)[name]?.extensions ?? {}, {
        dependsOn: types,
      })
  }
  // What a resolver of its own makes of its parent: a part of it.
  const address = schema.getType('User')
  if (address && 'getFields' in address)
    Object.assign(
      (address.getFields() as Record<string, { extensions: object }>)['address']?.extensions ?? {},
      { dependsOn: [] },
    )
  const serve = (plugins: object[]) => createYoga({ schema, plugins, logging: false, maskedErrors: false })
  return { cached: serve([useResponseCache(createResponseCache(options))]), plain: serve([]) }
}

const ids = ['1', '2', '3', 'b1']
const actor = [
  '{ name }',
  '{ id name }',
  '{ ... on User { k: id name } ... on Bot { k: ref name } }',
  '{ __typename ... on User { k: id n: name } ... on Bot { k: ref n: name } }',
  '{ ...A } fragment A on Actor { key: id name }',
]
const found = [
  '{ __typename }',
  '{ ... on User { id name } ... on Bot { id: ref name } }',
  '{ ... on User { x: id name } ... on Gone { x: reason } }',
]
const user = [
  '{ name }',
  '{ id name }',
  '{ k: id address { city } }',
  '{ id team { id title leader { id name } } }',
  '{ team { memberCount } }',
  '{ id team { members { name } } }',
  '{ id boss { ... on User { k: id name } ... on Bot { k: ref name } } }',
  '{ id: name }',
]
const team = [
  '{ id title leader { id name } }',
  '{ memberCount }',
  '{ id members { id name } }',
  '{ leader { name } }',
  '{ x: id leader { k: id address { city } } }',
]
const page = [
  '{ total }',
  '{ items { id } }',
  '{ facets { n } }',
  '{ first { id name } }',
  '{ items { id name } total }',
]

const put = (text: string, selection: string): string => {
  const [body = '', fragment] = selection.split(' fragment ')
  return `{ ${text} ${body} }${fragment === undefined ? '' : ` fragment ${fragment}`}`
}
const id = fc.constantFrom(...ids)
const name = fc.constantFrom('a', 'b', 'c')
const query = fc.oneof(
  fc.tuple(id, fc.constantFrom(...user)).map(([one, text]) => put(`user(id: "${one}")`, text)),
  fc.tuple(id, fc.constantFrom(...actor)).map(([one, text]) => put(`actor(id: "${one}")`, text)),
  fc.tuple(id, fc.constantFrom(...found)).map(([one, text]) => put(`find(id: "${one}")`, text)),
  fc.tuple(name, fc.constantFrom(...found)).map(([one, text]) => put(`search(name: "${one}")`, text)),
  fc
    .tuple(fc.constantFrom('t1', 't2'), fc.constantFrom(...team))
    .map(([one, text]) => put(`team(id: "${one}")`, text)),
  fc.tuple(name, fc.constantFrom(...user)).map(([one, text]) => put(`users(name: "${one}", limit: 2)`, text)),
  fc.constantFrom(...user).map((text) => put('youngest', text)),
  fc.constantFrom(...page).map((text) => put('page(limit: 2)', text)),
  fc.constantFrom('{ summary { users } }', '{ userCount }', '{ summary { teams } youngest { id } }'),
)
const payload = fc.constantFrom(
  '{ ok }',
  '{ user { id } }',
  '{ user { name } others { id } }',
  '{ user { id } others { id } }',
  '{ __typename }',
  '{ query { userCount } }',
)
const picked = fc.constantFrom('{ id }', '{ name }', '{ __typename }', '{ i: id name }', '{ id team { id } }')
const mutation = fc.oneof(
  fc
    .tuple(id, name, picked)
    .map(([one, to, text]) => `mutation { rename(id: "${one}", name: "${to}") ${text} }`),
  fc
    .tuple(id, name, payload)
    .map(([one, to, text]) => `mutation { renamed(id: "${one}", name: "${to}") ${text} }`),
  fc
    .tuple(name, fc.constantFrom('{ id }', '{ ref }'))
    .map(([to, text]) => `mutation { renameBot(id: "b1", name: "${to}") ${text} }`),
  fc
    .tuple(id, name, payload)
    .map(([one, to, text]) => `mutation { swap(id: "${one}", name: "${to}") ${text} }`),
  fc.tuple(name, picked).map(([to, text]) => `mutation { register(name: "${to}") ${text} }`),
  id.map((one) => `mutation { ban(id: "${one}") }`),
  fc.constant('mutation { reset { ok } }'),
  fc.tuple(id, picked).map(([one, text]) => `mutation { drop(id: "${one}") ${text} }`),
  fc
    .tuple(fc.constantFrom('t1', 't2'), id)
    .map(([one, other]) => `mutation { appoint(team: "${one}", user: "${other}") { id } }`),
  fc
    .tuple(id, fc.constantFrom('"t1"', '"t2"', 'null'))
    .map(([one, to]) => `mutation { move(id: "${one}", team: ${to}) { id } }`),
  fc
    .tuple(id, name, picked)
    .map(([one, to, text]) => `mutation { breaks(id: "${one}", name: "${to}") ${text} }`),
  fc.tuple(name, picked).map(([to, text]) => `mutation { all(name: "${to}") ${text} }`),
)
const steps = fc.array(query, { minLength: 1, maxLength: 4 }).chain((asked) =>
  fc.array(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...asked) }, { weight: 1, arbitrary: mutation }),
    {
      minLength: 6,
      maxLength: 20,
    },
  ),
)

describe.each(['types', 'entities'] as const)('strategy %s', (strategy) => {
  it('a query after a mutation is what it would be without a cache', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(0, 60_000), async (texts, staleWhileRevalidateMs) => {
        const { cached, plain } = createWorld({ strategy, staleWhileRevalidateMs })
        for (const text of texts) {
          const answer = await ask({ yoga: cached }, text)
          if (text.startsWith('mutation')) continue
          const truth = await ask({ yoga: plain }, text)
          expect(answer.json).toEqual(truth.json)
        }
      }),
      { numRuns: 120 },
    )
  }, 300_000)
})

describe('each of these was stale once', () => {
  const rows: readonly [string, 'types' | 'entities', string, string][] = [
    ['a count of a wrapper', 'types', '{ page { total } }', 'mutation { register(name: "c") { id } }'],
    [
      'a count of a wrapper, by entities',
      'entities',
      '{ page { total } }',
      'mutation { register(name: "c") { id } }',
    ],
    ['a summary', 'types', '{ summary { users } }', 'mutation { register(name: "c") { id } }'],
    [
      'a payload that shows nothing',
      'types',
      '{ user(id: "1") { name } }',
      'mutation { renamed(id: "1", name: "c") { ok } }',
    ],
    ['a result without an entity', 'types', '{ user(id: "2") { name } }', 'mutation { reset { ok } }'],
    ['a Boolean', 'entities', '{ users { id } }', 'mutation { ban(id: "1") }'],
    [
      'an alias that is the id of another type',
      'entities',
      '{ actor(id: "b1") { ... on User { k: id } ... on Bot { k: ref n: name } } }',
      'mutation { renameBot(id: "b1", name: "c") { id } }',
    ],
    [
      'an entity that nobody asked for by its id',
      'entities',
      '{ youngest { id } }',
      'mutation { register(name: "c") { id } }',
    ],
    [
      'a list that the entity moves into',
      'entities',
      '{ users(name: "c") { id } }',
      'mutation { rename(id: "1", name: "c") { id } }',
    ],
  ]
  it.each(rows)('%s (%s)', async (_title, strategy, query, mutation) => {
    const { cached, plain } = createWorld({ strategy })
    await ask({ yoga: cached }, query)
    expect((await ask({ yoga: cached }, query)).cache).toBe('HIT')
    await ask({ yoga: cached }, mutation)
    expect((await ask({ yoga: cached }, query)).json).toEqual((await ask({ yoga: plain }, query)).json)
  })
})

it('the cache answers at all in such a world', async () => {
  const { cached } = createWorld({ strategy: 'entities' })
  const one = '{ user(id: "1") { id name } }'
  await ask({ yoga: cached }, one)
  await ask({ yoga: cached }, 'mutation { rename(id: "2", name: "x") { id } }')
  expect((await ask({ yoga: cached }, one)).cache).toBe('HIT')
})
