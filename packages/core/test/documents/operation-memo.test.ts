import { buildSchema, parse } from 'graphql'
import { expect, it } from 'vitest'
import { createOperationMemo } from '../../src/documents/index.ts'

const schema = buildSchema('type Query { a: Int }')
const two = parse('query A { a } query B { a }')
const one = parse('query A { a }')

function counted() {
  const memo = createOperationMemo<number>()
  let created = 0
  return (document: typeof one, operationName?: string | null, of = schema) =>
    memo({ schema: of, document, operationName }, () => ++created)
}

it('creates a value once per operation, document and schema', () => {
  const of = counted()
  expect([of(two, 'A'), of(two, 'B'), of(two, 'A'), of(one, 'A'), of(one), of(one, null)]).toEqual([
    1, 2, 1, 3, 3, 3,
  ])
  const other = buildSchema('type Query { a: Int }')
  expect([of(one, 'A', other), of(one, 'A'), of(one, 'A', other)]).toEqual([4, 3, 4])
})

it.each([
  ['an unknown name', one, 'C'],
  ['an empty name', one, ''],
  ['a missing name with two operations', two, undefined],
])('does not cache the value for %s', (_, document, name) => {
  const of = counted()
  expect([of(document, name), of(document, name), of(document, 'A'), of(document, name)]).toEqual([
    1, 2, 3, 4,
  ])
})
