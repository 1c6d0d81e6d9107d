import { createRoom } from '../../src/index.ts'
import { buildSchema, parse } from 'graphql'
import { expect, it } from 'vitest'
import { Known } from '../../src/pipeline/known.ts'

const schema = buildSchema('type Query { a: Int }')
const lifts = (): boolean => false

it('a text is known by each name that was asked for, in one place', () => {
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

it('no name and null are one, an empty one is another', () => {
  const known = new Known(createRoom(1_000_000), false)
  const query = '{ a }'
  known.add({ query }, schema, parse(query), lifts)
  expect(known.get({ query, operationName: null })).toBe(known.get({ query }))
  expect(known.get({ query })).toBeDefined()
  expect(known.get({ query, operationName: '' })).toBeUndefined()
  // Nothing that a client can send as a text stands for a text and a name.
  expect(known.get({ query: `\n${query}` })).toBeUndefined()
})
