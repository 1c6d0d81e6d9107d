import { describe, expect, it } from 'vitest'
import { field } from '../src/index.ts'
import { parseArgument } from '../src/declare/arguments.ts'
import { parseTypeReference } from '../src/declare/fields.ts'

describe('field', () => {
  it('is plain data, so that it can stand in any config', () => {
    const written = field
      .list(field.object('Address', { city: field.string }).required)
      .required.describe('where')
      .from('addresses')
    expect(JSON.parse(JSON.stringify(written))).toEqual({
      type: '[Address!]!',
      fields: { city: { type: 'String' } },
      description: 'where',
      key: 'addresses',
    })
    expect(Object.keys(field.int.required)).toEqual(['type'])
  })
})

describe('parseTypeReference', () => {
  it.each([
    ['int', 'Int', 'Int', false, false],
    ['ID!', 'ID!', 'ID', false, true],
    ['[string!]', '[String!]', 'String', true, false],
    ['[[User!]!]!', '[[User!]!]!', 'User', true, true],
    [' long ', 'Long', 'Long', false, false],
  ])('%j', (given, text, name, isList, isNonNull) => {
    expect(parseTypeReference(given)).toEqual({ text, name, isList, isNonNull })
  })

  it.each(['', 'list(int)', '[int', 'int!!', 'a b', '1x'])('refuses %j with an example', (text) => {
    expect(() => parseTypeReference(text)).toThrow(
      'is not a valid type; write a scalar such as string, int or long, or the name of a type',
    )
  })
})

describe('parseArgument', () => {
  it.each([
    ['Int = 10', 'Int', 10],
    ['[String!]! = ["a", "b"]', '[String!]!', ['a', 'b']],
    ['string="x = y"', 'String', 'x = y'],
    ['Filter = { size: 2, kind: NEW }', 'Filter', { size: 2, kind: 'NEW' }],
    ['Int', 'Int', undefined],
    ['Long = 9007199254740993', 'Long', '9007199254740993'],
    ['[Float!] = [1, 2.5]', '[Float!]', [1, 2.5]],
    ['ID = null', 'ID', null],
  ])('%s', (given, text, value) => {
    const argument = parseArgument(given)
    expect([argument.text, JSON.parse(JSON.stringify(argument.default ?? null))]).toEqual([
      text,
      value ?? null,
    ])
  })

  it.each(['Int =', 'Int = ten)', 'Int = $x'])('refuses %j with an example', (text) => {
    expect(() => parseArgument(text)).toThrow('has no valid GraphQL value after "="')
  })

  it.each(['Int = ten', 'int = "10"', 'Int! = 3000000000', '[Boolean!] = [true, null]', 'String = 1'])(
    'refuses %j, whose default is of another type',
    (text) => {
      expect(() => parseArgument(text)).toThrow(
        /the default of .* is not a valid \S+; write a value of that type/,
      )
    },
  )
})
