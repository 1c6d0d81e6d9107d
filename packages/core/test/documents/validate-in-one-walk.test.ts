import { buildSchema, parse, validate } from 'graphql'
import { expect, it } from 'vitest'
import { validateInOneWalk } from '../../src/documents/index.ts'

const schema = buildSchema('type Query { a(at: Int): Int }')

it.each([
  '{ ... on Query { a } }',
  '{ ... on Nowhere { a } }',
  'query ($at: Nothing) { a(at: $at) }',
  'query ($at: [Nothing!]!) { a(at: $at) }',
  '{ ...A } fragment A on Nowhere { a }',
  '{ a @nowhere }',
  '{ a @skip(if: true) @skip(if: false) }',
  '{ ... @include(if: true) @include(if: true) { a } }',
])('reports the same errors as graphql for %s', (text) => {
  const document = parse(text)
  const messages = validateInOneWalk(schema, document).map(({ message }) => message)
  expect(messages).toEqual(validate(schema, document).map(({ message }) => message))
})

it.each([
  ['\n', 500, 100],
  ['\n', 10_000, 10],
  ['\r', 10_000, 10],
  [' ', 500_000, 20],
  ['\n', 500_000, 1],
])('limits the number of errors in a document with %j × %i', (line, lines, most) => {
  const fields = Array.from({ length: 200 }, (_, index) => `no${index}`)
  const errors = validateInOneWalk(schema, parse(`{${line.repeat(lines - 1)}${fields.join(' ')} }`))
  expect(errors.slice(0, -1)).toHaveLength(most)
  expect(errors.at(-1)?.message).toContain('error limit reached')
  expect(errors[0]?.locations).toEqual([
    line === ' ' ? { line: 1, column: lines + 1 } : { line: lines, column: 1 },
  ])
})
