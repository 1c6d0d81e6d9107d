import { buildSchema, getOperationAST, parse, type GraphQLObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import type { LiveOptions } from '@vinyasa/core'
import { createDependencies } from '@vinyasa/invalidation'
import { planLiveQuery, type LivePlan } from '../src/document/live-plan.ts'

const schema = buildSchema(`
  interface Node { id: ID! }
  type User implements Node { id: ID! name: String posts: [Post!]! }
  type Post implements Node { id: ID! author: User comments: [Comment] }
  type Comment { text: String }
  type ListUsersResponse { users: [User!]! next: Page }
  type Page { token: String }
  union Any = User | Comment
  type Query { user: User users: ListUsersResponse node: Node any: [Any] time: Int }
`)

function plan(query: string, fields: Record<string, LiveOptions>, throttleMs?: number): LivePlan {
  const document = parse(query)
  const operation = getOperationAST(document)!
  const defaults = { enabled: true }
  const dependencies = createDependencies(schema)
  return planLiveQuery({ schema, document, operation, fields, defaults, throttleMs, dependencies })
}

const types = (live: LivePlan): string[] =>
  [
    ...new Set(
      live.triggers
        .filter((trigger) => !trigger.startsWith('Query.'))
        .map((trigger) => trigger.split('.')[0]!),
    ),
  ].sort()

describe('triggers', () => {
  it('User gives User.create, User.update, User.delete, and Query.user for who wants to name the field', () => {
    expect(plan('{ user { id } }', {}).triggers).toEqual([
      'User.create',
      'User.update',
      'User.delete',
      'Post.create',
      'Post.update',
      'Post.delete',
      'Query.user',
    ])
  })

  it.each<[string, string[]]>([
    ['{ users { next { token } } }', ['ListUsersResponse', 'Page', 'User']],
    ['{ users { users { id } } }', ['ListUsersResponse', 'Page', 'User']],
    [
      '{ users { users { posts { comments { text } } } } }',
      ['Comment', 'ListUsersResponse', 'Page', 'Post', 'User'],
    ],
    [
      '{ users { ...F } } fragment F on ListUsersResponse { users { ...G } } fragment G on User { posts { id } }',
      ['ListUsersResponse', 'Page', 'Post', 'User'],
    ],
    ['{ node { id } }', ['Comment', 'Post', 'User']],
    ['{ any { ... on Comment { text } } }', ['Comment', 'Post', 'User']],
    ['{ time __typename }', ['*']],
  ])('of the return type, its list items and what the operation selects: %s', (query, expected) => {
    expect(types(plan(query, {}))).toEqual(expected)
  })

  it('an explicit list replaces them, and depends_on adds all operations of the types it names', () => {
    const fields = { user: { triggers: ['Account.update'], dependsOn: ['Role'] } }
    expect(plan('{ user { id } }', fields).triggers).toEqual(['Account.update', 'Role.*', 'Query.user'])
  })

  it.each<[string, string, LiveOptions, string[]]>([
    [
      'of the field’s own type, not of what is joined to it',
      '{ user { posts { id } author { id } } }',
      {},
      ['Author', 'User'],
    ],
    [
      'nor of a type joined further below',
      '{ user { author { books { id } } } }',
      {},
      ['Author', 'Book', 'User'],
    ],
    [
      'nor through a fragment',
      '{ user { ...F } } fragment F on User { author { id } }',
      {},
      ['Author', 'User'],
    ],
    ['nor of what a joined field is said to depend on', '{ user { rating } }', {}, ['Review', 'User']],
    ['nor of a joined field of which nobody knows', '{ user { joined { text } } }', {}, ['*', 'User']],
    ['nor of what implements an interface below', '{ user { node { id } } }', {}, ['Author', 'Book', 'User']],
    ['of a leaf', '{ summary }', {}, ['User']],
    [
      'depends_on says what a leaf is made of',
      '{ summary }',
      { triggers: [], dependsOn: ['Sale'] },
      ['Sale'],
    ],
    ['of a leaf that says nothing: any event', '{ summary }', { triggers: [] }, ['*']],
    ['of an object that is no entity: any event', '{ totals { sum } }', { triggers: [] }, ['*', 'Totals']],
    ['of such an object: what it states', '{ stated { sum } }', { triggers: [] }, ['Sale', 'Totals']],
  ])('an explicit list stands in for what is derived %s: %s', (_, query, options, expected) => {
    const joined = buildSchema(`
      interface Node { id: ID! }
      type User { id: ID! author: Author posts: [User!]! rating: Int joined: Loose node: Node }
      type Author implements Node { id: ID! books: [Book!]! }
      type Book implements Node { id: ID! }
      type Loose { text: String }
      type Totals { sum: Int }
      type Query { user: User summary: Int totals: Totals stated: Totals }
    `)
    const { rating, joined: loose } = (joined.getType('User') as GraphQLObjectType).getFields()
    rating!.extensions = { dependsOn: ['Review'] }
    loose!.extensions = { requires: ['id'] }
    joined.getQueryType()!.getFields()['stated']!.extensions = { dependsOn: ['Sale'] }
    const document = parse(query)
    const fields = ['user', 'summary', 'totals', 'stated'].map((name) => [
      name,
      { triggers: ['User.*'], ...options },
    ])
    const live = planLiveQuery({
      schema: joined,
      document,
      operation: getOperationAST(document)!,
      fields: Object.fromEntries(fields),
      defaults: {},
      throttleMs: undefined,
      dependencies: createDependencies(joined),
    })
    expect(types(live)).toEqual(expected)
  })
})

describe('several root fields in one operation', () => {
  const query = '{ a: user { id } b: users { next { token } } c: time }'
  it('the union of their triggers; the shortest poll interval; the longest throttle; the shortest ttl', () => {
    const live = plan(query, {
      user: {
        strategy: 'HASH_DIFF',
        pollIntervalMs: 700,
        throttleMs: 50,
        ttlSeconds: 30,
        triggers: ['User.update'],
      },
      users: { strategy: 'POLLING', pollIntervalMs: 300, throttleMs: 400, ttlSeconds: 60 },
      time: { triggers: ['Clock.tick'], ttlSeconds: 0, throttleMs: 0 },
    })
    expect(live).toMatchObject({ strategy: 'POLLING', pollIntervalMs: 300, throttleMs: 400, ttlSeconds: 30 })
    // Triggers of INVALIDATION fields stay in force beside polling; polled fields have those alone that are stated.
    expect(live.triggers).toEqual(['User.update', 'Clock.tick', 'Query.time'])
  })

  it('HASH_DIFF if any and none polls; INVALIDATION otherwise', () => {
    expect(plan(query, { user: { strategy: 'HASH_DIFF' } }).strategy).toBe('HASH_DIFF')
    expect(plan(query, {}).strategy).toBe('INVALIDATION')
  })

  it.each<[LiveOptions, number | undefined, number]>([
    [{}, undefined, 100],
    [{ throttleMs: 0 }, undefined, 0],
    [{ throttleMs: 0 }, 250, 250],
    [{ throttleMs: 300 }, 250, 300],
  ])('throttle of %o with the client’s %s is %i', (options, client, expected) => {
    expect(plan('{ user { id } }', { user: options }, client).throttleMs).toBe(expected)
  })

  it('a poll interval below 50 is refused', () => {
    const polling = (pollIntervalMs: number) =>
      plan('{ user { id } }', { user: { strategy: 'POLLING', pollIntervalMs } })
    expect(() => polling(49)).toThrow(
      '"pollIntervalMs" of Query.user: expected a number of at least 50, got 49',
    )
    expect(polling(50).pollIntervalMs).toBe(50)
  })

  it.each([
    ['VERY_HIGH', 'VeryHigh'],
    ['VeryHigh', 'VeryHigh'],
    ['LOW', 'Low'],
  ] as const)('a volatility is taken as %s', (volatility, level) => {
    expect(plan('{ user { id } }', { user: { volatility } }).volatility).toBe(level)
  })

  it('one field that is not enabled refuses the whole operation', () => {
    expect(() => plan(query, { time: { enabled: false } })).toThrow('Query.time')
  })
})
