import { parse } from 'graphql'
import { createSchema } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { createKnownShapes } from '../src/literals/known-shapes.ts'

const schema = createSchema({ typeDefs: 'type Query { echo(s: String): String }' })

/** A shape of its own, of so many characters. */
function queryOf(alias: string, characters: number): string {
  return `{ ${alias.padEnd(characters, '_')}: echo(s: "x") }`
}

it.each([
  ['few', 10, true],
  ['many short ones', 900, true],
  ['too many', 1_100, false],
])('a shape that came once is remembered behind %s others', (_, count, isRemembered) => {
  expect(isKnownBehind(count, 20)).toBe(isRemembered)
})

it('what came once is bounded by its characters, too', () => {
  expect(isKnownBehind(10, 16_000)).toBe(true)
  expect(isKnownBehind(20, 16_000)).toBe(false)
})

/** Whether a shape that comes for the second time, behind others that came once, is made fit for others. */
function isKnownBehind(count: number, characters: number): boolean {
  const shapes = createKnownShapes()
  const add = (query: string): void => shapes.add({ query }, schema, parse(query), () => true)
  add(queryOf('first', 20))
  for (let other = 0; other < count; other++) add(queryOf(`a${other}`, characters))
  add(queryOf('first', 20))
  return shapes.find({ query: queryOf('first', 20) }) !== undefined
}
