import { buildSchema, parse, validate } from 'graphql'
import { expect, it } from 'vitest'
import { validateInOneWalk } from '../src/index.ts'

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
])('rules that seldom have something to say, say what they do by themselves: %s', (text) => {
  const document = parse(text)
  const messages = validateInOneWalk(schema, document).map(({ message }) => message)
  expect(messages).toEqual(validate(schema, document).map(({ message }) => message))
})
