import { createRoom } from '../../src/index.ts'
import { buildSchema, parse } from 'graphql'
import { expect, it } from 'vitest'
import { Known } from '../../src/pipeline/known.ts'

const schema = buildSchema('type Query { a: Int }')
const lifts = (): boolean => false

it('caches a document per operation name in one entry', () => {
  const room = createRoom(1_000_000)
  const known = new Known(room, false)
  const query = 'query A { a } query B { a }'
  const document = parse(query)
  for (const operationName of ['A', 'B', 'A', 'none'])
    known.add({ query, operationName }, schema, document, lifts)
  expect(known.get({ query, operationName: 'A' })?.definition).toBe(document.definitions[0])
  expect(known.get({ query, operationName: 'B' })?.definition).toBe(document.definitions[1])
  for (const operationName of [undefined, null, '', 'none'])
    expect(known.get({ query, operationName })).toBeUndefined()
  known.clear()
  expect(known.get({ query, operationName: 'A' })).toBeUndefined()
  expect(room.size).toBe(0)
})

it('treats null as a missing operation name, but not an empty name', () => {
  const known = new Known(createRoom(1_000_000), false)
  const query = '{ a }'
  known.add({ query }, schema, parse(query), lifts)
  expect(known.get({ query, operationName: null })).toBe(known.get({ query }))
  expect(known.get({ query })).toBeDefined()
  expect(known.get({ query, operationName: '' })).toBeUndefined()
  // A query cannot imitate a combination of a query and a name.
  expect(known.get({ query: `\n${query}` })).toBeUndefined()
})
