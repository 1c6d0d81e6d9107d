import {
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
} from 'graphql'
import { printSchema, type GraphQLFieldConfigMap } from 'graphql'
import { expect, it } from 'vitest'
import { nameSource, SourceNamesError, type SourceNames } from '../src/index.ts'

const scalar = (name: string): GraphQLScalarType => new GraphQLScalarType({ name })
const [Long, UInt32, Bytes, DateTime] = ['Long', 'UInt32', 'Bytes', 'DateTime'].map(scalar) as [
  GraphQLScalarType,
  GraphQLScalarType,
  GraphQLScalarType,
  GraphQLScalarType,
]

function schemaWith(
  defaults: { readonly argument?: unknown; readonly member?: unknown } = {},
): GraphQLSchema {
  const { argument, member } = defaults
  const input = new GraphQLInputObjectType({
    name: 'In',
    fields: { member: { type: Long, defaultValue: member } },
  })
  const fields: GraphQLFieldConfigMap<unknown, unknown> = {
    size: { type: Long, args: { above: { type: Long, defaultValue: argument }, in: { type: input } } },
    count: { type: UInt32 },
    raw: { type: Bytes },
    at: { type: DateTime },
  }
  return new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) })
}

function named(options: SourceNames, schema: GraphQLSchema = schemaWith()): GraphQLSchema {
  return nameSource({ id: 's', schema, fields: [] }, options).source.schema as GraphQLSchema
}

it('integers may be called Int, several of them, and bytes String: they are those of GraphQL then', () => {
  const schema = named(
    { rename: { Long: 'Int', UInt32: 'Int', Bytes: 'String' }, prefix: 'x' },
    schemaWith({ argument: '5' }),
  )
  expect(printSchema(schema)).toContain('xSize(above: Int = 5, in: XIn): Int')
  expect(printSchema(schema)).toContain('xCount: Int')
  expect(printSchema(schema)).toContain('xRaw: String')
  expect(schema.getQueryType()?.getFields()['xSize']?.type).toBe(GraphQLInt)
})

it.each([
  [
    'DateTime',
    'Int',
    /DateTime cannot be called "Int", because GraphQL defines that name; only the scalars Long and UInt32 can have it$/,
  ],
  ['Bytes', 'Int', /Bytes cannot be called "Int"/],
  ['Long', 'Float', /Long cannot be called "Float", because GraphQL defines that name$/],
  ['Long', 'Query', /Long cannot be called "Query"/],
  ['In', 'Int', /In cannot be called "Int"/],
])('%s cannot be called %s', (own, name, message) => {
  expect(() => named({ rename: { [own]: name } })).toThrow(message)
})

it.each([
  [
    { argument: 2 ** 31 },
    /the default of Query.size\(above:\) is not valid for the new scalar \(2147483648 is not a valid Int\); keep the name of the scalar, or change the default/,
  ],
  [{ member: '-2147483649' }, /the default of In.member is not valid/],
  [{ argument: 5_000_000_000n }, /\(5000000000 is not a valid Int\)/],
])('a default that does not fit stops the start: %#', (defaults, message) => {
  const rename = { rename: { Long: 'Int' } }
  expect(() => named(rename, schemaWith(defaults))).toThrow(SourceNamesError)
  expect(() => named(rename, schemaWith(defaults))).toThrow(message)
})
