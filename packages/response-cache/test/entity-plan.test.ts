import { createDependencies } from '@vinyasa/invalidation'
import { buildSchema, parse } from 'graphql'
import { expect, it } from 'vitest'
import { createEntityPlan } from '../src/document/entity-plan.ts'

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
    idFieldOf: () => 'id',
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
