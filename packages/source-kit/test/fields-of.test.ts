import { buildSchema, graphqlSync, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql'
import { expect, it } from 'vitest'
import { fieldsOf } from '../src/answer/answer-turns.ts'

const schema = buildSchema(`
  interface Named { name: String }
  type Cat implements Named { id: ID name: String }
  type Dog implements Named { id: ID name: String }
  type Query { cats: [Cat] pets: [Named] }
`)
const cat = schema.getType('Cat') as GraphQLObjectType

/** What a cat is counted as, each time that it is asked. */
function countsIn(source: string): readonly number[] {
  const counts: number[] = []
  const fieldResolver = (_: unknown, __: unknown, ___: unknown, info: GraphQLResolveInfo): unknown[] => {
    counts.push(fieldsOf(cat, info), fieldsOf(cat, info))
    return []
  }
  graphqlSync({ schema, source, fieldResolver })
  return counts
}

it.each([
  ['{ cats { id } }', 1],
  ['{ cats { id again: id id } }', 2],
  ['{ cats { id } cats { id name } }', 2],
  [
    '{ cats { ...F } } fragment F on Cat { id ... on Named { name ... @include(if: true) { other: name } } }',
    3,
  ],
  ['{ cats { id name @skip(if: true) } }', 2],
  ['{ pets { ... on Cat { id name } ... on Dog { a: id b: id c: id } __typename } }', 3],
])('%s: a cat has %i fields at most', (source, count) => {
  expect(countsIn(source)).toEqual([count, count])
})
