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

it.each([
  ['in a later turn', 10, '{ first { next { id } } later { next { id } } }'],
  ['in the next call of the same turn', 1, '{ later { next { id } } }'],
])('gives what a call has brought, though others fail to be brought %s', async (_, maxBatchSize, source) => {
  const schema = buildSchema(`
    type Node { id: ID next: Node }
    type Query { first: Node later: [Node] }
  `)
  const { next } = (schema.getType('Node') as GraphQLObjectType).getFields()
  const loaded: string[] = []
  next!.resolve = createBatchedJoin({
    readKey: (node) => (node as Node).id,
    many: false,
    maxBatchSize,
    async load(keys) {
      loaded.push(keys.join())
      if (keys.includes('1')) throw new Error('no 1')
      return new Map(keys.map((key) => [String(key), [{ id: `after ${String(key)}` }]]))
    },
  })
  const later = (): Promise<readonly Node[]> =>
    new Promise(
      (resolve) => void setTimeout(resolve, 1, [{ id: '0' }, { id: '0' }, { id: '1' }, { id: '0' }]),
    )
  const { data, errors } = await graphql({ schema, source, rootValue: { first: { id: '0' }, later } })
  const known = { next: { id: 'after 0' } }
  expect(data).toMatchObject({ later: [known, known, { next: null }, known] })
  expect(errors?.map(({ path }) => path?.join('.'))).toEqual(['later.2.next'])
  expect(loaded).toEqual(['0', '1'])
})
