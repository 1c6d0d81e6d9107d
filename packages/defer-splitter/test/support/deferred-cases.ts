import { makeExecutableSchema } from '@graphql-tools/schema'
import type { GraphQLSchema } from 'graphql'

/** One case of incremental delivery. */
export interface DeferredCase {
  readonly what: string
  readonly query: string
  /**
   * The data that streamed parts merge to, where a fragment fails as a whole and takes its fields with it: the one
   * difference from the plain result.
   */
  readonly streamed?: unknown
}

const typeDefs = /* GraphQL */ `
  interface Named {
    name: String
  }
  type Ship implements Named {
    id: ID!
    name: String
    motto: String
    captain: Person
    crew: [Person]
    logs: [String]
    nothing: Person
    noCrew: [Person]
    broken: String
    never: String!
    wreck: Ship
    deep: Deep
  }
  type Person implements Named {
    id: ID!
    name: String
    ship: Ship
    broken: String
    never: String!
  }
  type Deep {
    a: String
    b: String
    deeper: Deeper
    never: String!
  }
  type Deeper {
    c: String
    d: String
    never: String!
  }
  type Query {
    ship: Ship
    anyone: Named
  }
`

const ada = { id: '1', name: 'Ada' }
const bob = { id: '2', name: 'Bob' }

/** `order`: which of the fields of a case are ready first. */
export function createCaseSchema(order: 'at once' | 'later'): GraphQLSchema {
  const give = <Value>(value: Value): Value | Promise<Value> =>
    order === 'at once' ? value : new Promise((resolve) => setImmediate(resolve, value))
  const fail = (what: string): never | Promise<never> => {
    const error = new Error(what)
    if (order === 'at once') throw error
    return new Promise((_, reject) => setImmediate(reject, error))
  }
  return makeExecutableSchema({
    typeDefs,
    resolvers: {
      Query: {
        ship: () => give({ id: '9', name: 'Beagle' }),
        anyone: () => give({ __typename: 'Person', ...ada }),
      },
      Ship: {
        motto: () => give('onward'),
        captain: () => give(ada),
        crew: () => give([ada, bob]),
        logs: () => give(['calm', 'storm']),
        nothing: () => give(null),
        noCrew: () => give([]),
        broken: () => fail('broken'),
        never: () => give(null),
        wreck: () => give({ id: '10', name: 'Wreck' }),
        deep: () => give({ a: 'a', b: 'b', deeper: { c: 'c', d: 'd' } }),
      },
      Person: {
        ship: () => give({ id: '9', name: 'Beagle' }),
        broken: () => fail('broken'),
        never: () => give(null),
      },
      Deep: { never: () => give(null) },
      Deeper: { never: () => give(null) },
    },
  })
}

/** After what graphql-js 17 tests of `@defer` and `@stream`, with a schema and words of our own. */
export const deferredCases: readonly DeferredCase[] = [
  {
    what: 'a fragment with scalar fields',
    query: '{ ship { id ...F @defer } } fragment F on Ship { name motto }',
  },
  { what: 'if: false', query: '{ ship { id ... @defer(if: false) { motto } } }' },
  {
    what: 'a variable that says no',
    query: 'query ($if: Boolean! = false) { ship { id ... @defer(if: $if) { motto } } }',
  },
  {
    what: 'a variable that is not given',
    query:
      'query ($if: Boolean) { ship { id ... @defer(if: $if, label: "l") { motto } ... @include(if: true) { name } } }',
  },
  { what: 'a fragment on the root', query: '{ ...Q @defer } fragment Q on Query { ship { id name } }' },
  {
    what: 'a fragment on the root that fails in a nullable field',
    query: '{ ... @defer { ship { id broken } } }',
  },
  {
    what: 'a fragment in a fragment',
    query:
      '{ ship { ... @defer(label: "outer") { motto ... @defer(label: "inner") { captain { name } } } } }',
  },
  {
    what: 'a fragment that holds only another',
    query: '{ ship { id ... @defer { ... @defer(label: "inner") { motto } } } }',
  },
  { what: 'a field above and in the fragment', query: '{ ship { name ... @defer { name motto } } }' },
  { what: 'a fragment that brings nothing new', query: '{ ship { name motto ... @defer { name motto } } }' },
  {
    what: 'the same fragment twice, deferred first',
    query: '{ ship { ...F @defer ...F } } fragment F on Ship { motto }',
  },
  {
    what: 'the same fragment twice, deferred last',
    query: '{ ship { ...F ...F @defer } } fragment F on Ship { motto }',
  },
  {
    what: 'two unlabelled fragments at one place',
    query: '{ ship { ... @defer { name } ... @defer { motto } } }',
  },
  {
    what: 'two fragments with a field in common',
    query: '{ ship { ... @defer(label: "a") { motto name } ... @defer(label: "b") { motto id } } }',
  },
  {
    what: 'objects in common, with other fields below',
    query:
      '{ ship { ... @defer(label: "a") { deep { a } } ... @defer(label: "b") { deep { b deeper { c } } } } }',
  },
  {
    what: 'an object above and in the fragment',
    query: '{ ship { deep { a } ... @defer { deep { b deeper { c d } } } } }',
  },
  {
    what: 'fragments at several levels with one path',
    query:
      '{ ... @defer(label: "root") { ship { deep { deeper { c } } } } ship { ... @defer(label: "ship") { deep { deeper { d } } } } }',
  },
  { what: 'a fragment in list items', query: '{ ship { crew { id ... @defer { name } } } }' },
  { what: 'a list that the fragment brings', query: '{ ship { id ... @defer { crew { name } logs } } }' },
  {
    what: 'a list above and in the fragment',
    query: '{ ship { crew { id } ... @defer { crew { name } } } }',
  },
  {
    what: 'a fragment in items of a deferred list',
    query: '{ ship { ... @defer(label: "list") { crew { id ... @defer(label: "item") { name } } } } }',
  },
  {
    what: 'an empty list',
    query: '{ ship { id noCrew { id ... @defer { name } } ... @defer(label: "more") { noCrew { id } } } }',
  },
  {
    what: 'a null object',
    query:
      '{ ship { id nothing { id ... @defer { name } } ... @defer(label: "more") { nothing { name } } } }',
  },
  {
    what: 'an abstract type',
    query: '{ anyone { name ... on Person @defer { id ship { name } } ... on Ship @defer { motto } } }',
  },
  { what: '__typename', query: '{ __typename ship { __typename ... @defer { __typename motto } } }' },
  {
    what: 'aliases',
    query: '{ a: ship { key: id ... @defer { text: motto } } b: ship { ... @defer { motto } } }',
  },
  { what: 'a nullable error in the fragment', query: '{ ship { id ... @defer { broken motto } } }' },
  {
    what: 'one nullable error of two fragments',
    query: '{ ship { id ... @defer(label: "a") { broken } ... @defer(label: "b") { broken motto } } }',
  },
  {
    what: 'a nullable error above and in the fragment',
    query: '{ ship { broken ... @defer { broken name } } }',
  },
  {
    what: 'a null for an error above, fields below it in the fragment',
    query: '{ ship { id wreck { never } ... @defer { motto wreck { name } } } }',
  },
  {
    what: 'the same with a fragment at the null',
    query: '{ ship { id wreck { never ... @defer { name } } ... @defer(label: "more") { motto } } }',
  },
  {
    what: 'the same two levels down',
    query: '{ ship { deep { deeper { never } } ... @defer { deep { b deeper { c } } } } }',
  },
  {
    what: 'a null for an error in the fragment, before anything of the object came',
    query: '{ ship { id ... @defer { wreck { id never } motto } } }',
  },
  {
    what: 'a null for an error in one of two fragments',
    query:
      '{ ship { id ... @defer(label: "a") { wreck { never } } ... @defer(label: "b") { wreck { name } motto } } }',
  },
  {
    what: 'the same, the other way round',
    query:
      '{ ship { id ... @defer(label: "a") { wreck { name } motto } ... @defer(label: "b") { wreck { never } } } }',
  },
  {
    what: 'a null for an error in the items of a list',
    query: '{ ship { crew { id } ... @defer { crew { name never } } } }',
  },
  {
    what: 'a non-null error that takes the fragment',
    query: '{ ship { id ... @defer { motto never } } }',
    streamed: { ship: { id: '9' } },
  },
  {
    what: 'a non-null error that takes one of two fragments',
    query: '{ ship { id ... @defer(label: "a") { never } ... @defer(label: "b") { motto } } }',
    streamed: { ship: { id: '9', motto: 'onward' } },
  },
  {
    what: 'a non-null error in a fragment takes those in it',
    query: '{ ship { id ... @defer(label: "a") { never ... @defer(label: "b") { motto } } } }',
    streamed: { ship: { id: '9' } },
  },
  {
    what: 'a non-null error in list items takes the fragment of each',
    query: '{ ship { crew { id ... @defer { name never } } } }',
    streamed: { ship: { crew: [{ id: '1' }, { id: '2' }] } },
  },
  { what: '@stream on a list', query: '{ ship { id crew @stream(initialCount: 1) { name } } }' },
  {
    what: '@stream without an initial count, beside @defer',
    query: '{ ship { logs @stream ... @defer { motto } } }',
  },
  {
    what: '@stream in a fragment',
    query:
      '{ ship { id ... @defer { crew @stream(initialCount: 1, label: "crew") { id ... @defer(label: "names") { name } } } } }',
  },
  {
    what: '@stream of a list of a null object',
    query: '{ ship { nothing { id } noCrew @stream { id } ... @defer { motto } } }',
  },
]
