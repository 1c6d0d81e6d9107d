import { createRoom } from '../../src/index.ts'
import { parse } from 'graphql'
import { createSchema } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { createKnownShapes } from '../../src/pipeline/literals.ts'

const schema = createSchema({ typeDefs: 'type Query { echo(s: String): String }' })

/** Returns a query with a unique shape of about `characters` characters. */
function queryOf(alias: string, characters: number): string {
  return `{ ${alias.padEnd(characters, '_')}: echo(s: "x") }`
}

it('remembers a shape that was sent once while the memory limit is sufficient', () => {
  expect(isKnownBehind(1_100, 20)).toBe(true)
  expect(isKnownBehind(10, 16_000)).toBe(true)
  expect(isKnownBehind(70, 16_000)).toBe(false)
})

/** Returns whether a shape is cached when it is sent again after `count` other shapes. */
function isKnownBehind(count: number, characters: number): boolean {
  const shapes = createKnownShapes(createRoom(1_000_000))
  const add = (query: string): void => shapes.add(query, schema, parse(query), () => true)
  add(queryOf('first', 20))
  for (let other = 0; other < count; other++) add(queryOf(`a${other}`, characters))
  add(queryOf('first', 20))
  return shapes.find({ query: queryOf('first', 20) }) !== undefined
}

it('counts all documents of a shape and removes them with the shape', () => {
  const room = createRoom(2_000_000)
  const shapes = createKnownShapes(room)
  const two = createSchema({
    typeDefs: 'enum E { A } type Query { echo(s: String, e: [Int], on: Boolean): String }',
  })
  // Default values are not replaced, so each default value requires a separate document.
  const sizes = [0, 1, 2, 3, 4, 5].map((of) => {
    const query = `query Q($n: Int = ${of}) { echo(s: "a", e: [$n]) }`
    shapes.add(query, two, parse(query), () => true)
    return room.size
  })
  const grown = sizes.slice(1).map((size, at) => size - (sizes[at] ?? 0) > 5_000)
  expect(grown).toEqual([true, true, true, true, false])
  shapes.clear()
  expect(room.size).toBe(0)
})
