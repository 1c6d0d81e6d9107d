import { createDependencies } from '@vinyasa/invalidation'
import { buildSchema, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { changedEntities, createEntityPlan } from '../src/document/entities.ts'

const SCHEMA = buildSchema(/* GraphQL */ `
  type Query {
    user(id: ID!): User
    bot(id: ID!): Bot
  }
  type User {
    id: ID!
    partner: Partner
  }
  type Bot {
    id: ID!
    ref: String
  }
  union Partner = User | Bot
`)

/** The tags of a user whose partner is a bot, selected so and answered so. */
function tagsOf(selection: string, partner: object): readonly string[] {
  const plan = createEntityPlan({
    schema: SCHEMA,
    document: parse(`{ user(id: "u1") { id partner { ${selection} } } }`),
    dependencies: createDependencies(SCHEMA),
  })
  return plan.tagsOf({ user: { id: 'u1', partner } }, {})
}

it.each([
  [
    'its own id, under any name',
    '__typename ... on User { id } ... on Bot { b: id }',
    { __typename: 'Bot', b: 'b1' },
  ],
  ['one name for both ids', '... on User { k: id } ... on Bot { k: id }', { k: 'b1' }],
])('an entity that another points to is known by %s', (_what, selection, partner) => {
  expect(tagsOf(selection, partner)).toContain('Bot:b1')
})

it.each([
  ['the id of the other type', '... on User { k: id } ... on Bot { k: ref }', { k: 'words' }],
  [
    'the same, the type named',
    '__typename ... on User { k: id } ... on Bot { k: ref }',
    { __typename: 'Bot', k: 'words' },
  ],
  ['an empty id, one name for both,', '... on User { k: id } ... on Bot { k: id }', { k: '' }],
  ['no id at all', '... on User { id } ... on Bot { ref }', { ref: 'words' }],
])('what stands where %s would is no id: any entity of the type matters', (_what, selection, partner) => {
  const tags = tagsOf(selection, partner)
  expect(tags).not.toContain('Bot:words')
  expect(tags).not.toContain('Bot:')
  expect(tags).toContain('Bot:?')
})

describe('of more than 10,000 fields, which fragments in fragments select,', () => {
  const schema = buildSchema(/* GraphQL */ `
    type Query {
      node(id: ID!): Node
    }
    type Mutation {
      change(id: ID!): Changed
    }
    type Changed {
      node: Node
    }
    type Node {
      id: ID!
      left: Node
      right: Node
      owner: User
    }
    type User {
      id: ID!
    }
  `)
  const links = Array.from(
    { length: 24 },
    (_, at) => `fragment F${at} on Node { id left { ...F${at + 1} } right { ...F${at + 1} } }`,
  )
  const fragments = `${links.join(' ')} fragment F24 on Node { owner { id } }`
  const input = (operation: string) => ({
    schema,
    document: parse(`${operation} ${fragments}`),
    dependencies: createDependencies(schema),
    idFieldOf: (type: string) => (type === 'Changed' ? undefined : 'id'),
  })

  it('each type stands for all of its entities', () => {
    const data = { node: { id: '1', left: { id: '2' }, right: null } }
    const { tagsOf } = createEntityPlan(input('{ node(id: "1") { ...F0 } }'))
    expect([...tagsOf(data, {})].sort()).toEqual(['Node', 'Node:?', 'User', 'User:?'])
  })

  it('a mutation changes all entities of each type', () => {
    const data = { change: { node: { id: '1', left: null, right: null } } }
    const given = input('mutation { change(id: "1") { node { ...F0 } } }')
    const dependence = given.dependencies.ofMutation(given.document)
    const changed = changedEntities(given, dependence.everything ? [] : dependence.types, data)
    expect(changed).toEqual([{ type: 'Changed' }, { type: 'Node' }, { type: 'User' }])
  })
})
