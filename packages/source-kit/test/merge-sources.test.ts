import { extendSchema, GraphQLID, GraphQLObjectType, GraphQLSchema, parse, printType } from 'graphql'
import { expect, it } from 'vitest'
import { mergeSources, type Source } from '../src/index.ts'

/** A source without root fields, as where clients do not see its only query. */
function booksSource(): Source {
  const extensions = { origin: 'rest connector "books": GET /books (endpoint books)' }
  const Book = new GraphQLObjectType({ name: 'Book', fields: { id: { type: GraphQLID, extensions } } })
  return { id: 'books', fields: [], schema: new GraphQLSchema({ types: [Book] }) }
}

it('a source is part of a schema that was made anew of its types, and is not added to it again', () => {
  const source = booksSource()
  const { schema } = mergeSources(null, [source])
  const remade = extendSchema(schema, parse('type Query { book: Book } extend type Book { title: String }'), {
    assumeValidSDL: true,
  })
  // As graphql 16 does by itself.
  remade.extensions = {}
  const again = mergeSources(remade, [source]).schema
  expect(printType(again.getType('Book') as GraphQLObjectType)).toBe(
    'type Book {\n  id: ID\n  title: String\n}',
  )
})

it('a source whose types another place defines too is refused', () => {
  const elsewhere = extendSchema(
    new GraphQLSchema({}),
    parse('type Query { book: Book } type Book { id: ID }'),
    {
      assumeValidSDL: true,
    },
  )
  expect(() => mergeSources(elsewhere, [booksSource()])).toThrow('field Book.id')
})
