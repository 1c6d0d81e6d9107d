import { buildSchema, graphql, type GraphQLObjectType } from 'graphql'
import { expect, it } from 'vitest'
import { createBatchedJoin } from '../src/joins/batched-join.ts'

interface Node {
  readonly id: string
}

/** Nodes in a circle of three. */
async function ask(source: string) {
  const loaded: string[] = []
  const schema = buildSchema(`
    type Node { id: ID next: Node }
    type Query { node: Node }
    type Mutation { change: Node }
  `)
  const { next } = (schema.getType('Node') as GraphQLObjectType).getFields()
  next!.resolve = createBatchedJoin({
    readKey: (node) => (node as Node).id,
    many: false,
    maxBatchSize: 10,
    async load(keys) {
      loaded.push(keys.join())
      return new Map(keys.map((key) => [String(key), [{ id: String((Number(key) + 1) % 3) }]]))
    },
  })
  const rootValue = { node: { id: '0' }, change: { id: '0' } }
  const { data, errors } = await graphql({ schema, source, rootValue })
  expect(errors).toBeUndefined()
  return { data, loaded }
}

const AROUND = '{ next { next { next { next { id } } } } }'

it('asks once for a key in a query', async () => {
  const { data, loaded } = await ask(`{ node ${AROUND} again: node ${AROUND} }`)
  expect(data).toMatchObject({ again: { next: { next: { next: { next: { id: '1' } } } } } })
  expect(loaded).toEqual(['0', '1', '2'])
})

it('asks once for a key in a field of a mutation, and again in the next field', async () => {
  const { data, loaded } = await ask(`mutation { change ${AROUND} again: change ${AROUND} }`)
  expect(data).toMatchObject({ again: { next: { next: { next: { next: { id: '1' } } } } } })
  expect(loaded).toEqual(['0', '1', '2', '0', '1', '2'])
})
