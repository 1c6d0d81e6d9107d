import { getArgumentValues } from '@graphql-tools/utils'
import * as fc from 'fast-check'
import {
  buildSchema,
  getOperationAST,
  getVariableValues,
  type FieldNode,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql'
import { expect, it } from 'vitest'
import { prepareArguments, prepareVariables } from '../src/plan/variables.ts'

const schema = buildSchema(/* GraphQL */ `
  scalar Any
  enum Color {
    RED
    GREEN
  }
  input In {
    id: ID
    n: Int! = 3
  }
  type Query {
    ask(
      s: String
      id: ID!
      i: Int = 7
      f: Float! = 1.5
      b: Boolean
      c: Color
      o: In
      l: [Int!]
      a: Any
    ): String
  }
`)
const types = {
  s: 'String',
  id: 'ID',
  i: 'Int',
  f: 'Float',
  b: 'Boolean',
  c: 'Color',
  o: 'In',
  l: '[Int!]',
  a: 'Any',
}
type Name = keyof typeof types
const given = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    true,
    '',
    'RED',
    '5',
    0,
    -0,
    1.5,
    2 ** 31,
    2 ** 31 - 1,
    -(2 ** 31),
    Number.NaN,
  ),
  fc.constantFrom<unknown>([], [1], ['1'], {}, { id: 1 }, { n: null }, { id: 'x', n: 4 }),
)
const literal = fc.constantFrom(
  'null',
  'true',
  '"t"',
  '"5"',
  '5',
  '-1',
  '1.5',
  'RED',
  '[1, 2]',
  '[]',
  '{ id: 5 }',
  '{ n: $i }',
)
const argument = fc.record({
  name: fc.constantFrom(...(Object.keys(types) as Name[])),
  literal: fc.option(literal, { nil: undefined }),
  isNonNull: fc.boolean(),
  default: fc.option(fc.constantFrom('"d"', '4', 'null'), { nil: undefined }),
})

/** What a function comes to, be it an error. */
function outcome(run: () => unknown): unknown {
  try {
    return { value: run() }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

it('says of variables and arguments what graphql says', () => {
  let valid = 0
  fc.assert(
    fc.property(
      fc.uniqueArray(argument, { maxLength: 5, selector: ({ name }) => name }),
      fc.dictionary(fc.constantFrom(...Object.keys(types), 'other'), given),
      (asked, values) => {
        const all = asked.some(({ name }) => name === 'id')
          ? asked
          : [...asked, { name: 'id' as const, literal: '"7"', isNonNull: false, default: undefined }]
        const variables = all
          .filter(({ literal: text }) => text === undefined || text.includes('$i'))
          .map(
            ({ name, isNonNull, default: text }) =>
              `$${name}: ${types[name]}${isNonNull ? '!' : ''}${text ? ` = ${text}` : ''}`,
          )
        const head = variables.length > 0 ? `query (${variables.join(', ')})` : ''
        const text = `${head} { ask(${all.map(({ name, literal: value }) => `${name}: ${value ?? `$${name}`}`).join(', ')}) }`
        const document = parse(text)
        if (validate(schema, document).length > 0) return
        valid++
        const operation = getOperationAST(document) as OperationDefinitionNode
        const theirs = getVariableValues(schema, operation.variableDefinitions ?? [], values) as unknown as {
          readonly coerced?: Record<string, unknown>
          readonly variableValues?: { readonly coerced: Record<string, unknown> }
        }
        const coerced = theirs.coerced ?? theirs.variableValues?.coerced
        const ours = prepareVariables(schema, operation)(values)
        expect(ours && { ...ours }).toStrictEqual(coerced && { ...coerced })
        const field = schema.getQueryType()?.getFields()['ask'] as never
        const node = operation.selectionSet.selections[0] as FieldNode
        const argumentsOf = prepareArguments(field, node)
        const expected = outcome(() => getArgumentValues(field, node, coerced ?? {}))
        for (const _time of [1, 2]) {
          const made = outcome(() => argumentsOf(coerced ?? {}))
          expect(made).toStrictEqual(expected)
        }
      },
    ),
    { numRuns: 2_000 },
  )
  expect(valid).toBeGreaterThan(200)
})
