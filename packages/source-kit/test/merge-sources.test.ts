import {
  buildSchema,
  extendSchema,
  printSchema,
  GraphQLID,
  GraphQLObjectType,
  GraphQLSchema,
  parse,
  printType,
  validateSchema,
} from 'graphql'
import { describe, expect, it } from 'vitest'
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

describe('types that two sources have', () => {
  const both = (one: string, other: string): GraphQLSchema =>
    mergeSources(
      null,
      [one, other].map((text, index) => ({
        id: `s${index}`,
        fields: [],
        schema: buildSchema(`type Query { f${index}: Int } ${text}`),
      })),
    ).schema

  it.each(['input A { a: Int = 1 }', 'enum A { B C }', 'scalar A'])(
    '%s is one where they are the same',
    (text) => {
      const type = both(text, text).getType('A')
      expect(type && printType(type).replaceAll(/\s+/g, ' ')).toBe(text)
    },
  )

  it.each([
    ['input A { a: Int = 1 }', 'input A { a: Int = 2 }'],
    ['enum A { B C }', 'enum A { B }'],
    ['input A { a: Int }', 'enum A { a }'],
  ])('%s beside %s is refused', (one, other) => {
    expect(() => both(one, other)).toThrow('two types are called "A"')
  })
})

describe('a schema that is made has types of its own', () => {
  const Query = new GraphQLObjectType({ name: 'Query', fields: { books: { type: GraphQLID } } })
  const base = new GraphQLSchema({ query: Query })
  const withBook = (schema: GraphQLSchema): GraphQLSchema =>
    extendSchema(schema, parse('extend type Query { book: Book }'), { assumeValidSDL: true })

  it.each([
    ['of sources alone', undefined],
    ['before an extension, which gives what it gets', (schema: GraphQLSchema) => schema],
    ['before an extension, which makes another', withBook],
  ])('%s', (_, extend) => {
    const books = booksSource()
    const further: Source = { id: 'further', fields: [], ...(extend && { extend }) }
    const { schema } = mergeSources(base, [books, further])
    expect(schema.getType('Book')).toBeInstanceOf(GraphQLObjectType)
    expect(schema.getType('Book')).not.toBe(books.schema?.getType('Book'))
    expect(schema.getQueryType()).not.toBe(Query)
    expect(base.getQueryType()).toBe(Query)
    expect(validateSchema(schema)).toEqual([])
  })

  it('which refer to each other, however late one of them got a field', () => {
    const field = (parent: string, name: string, type: string) => ({ parent, name, type, origin: 'a test' })
    const shelves: Source = {
      id: 'shelves',
      fields: [field('Query', 'shelf', 'Shelf'), field('Shelf', 'book', 'Book')],
      types: new Map([['Shelf', undefined]]),
    }
    const authors: Source = {
      id: 'authors',
      fields: [field('Book', 'author', 'Author'), field('Author', 'shelf', 'Shelf')],
      types: new Map([['Author', undefined]]),
    }
    const { schema } = mergeSources(base, [booksSource(), shelves, authors])
    const fieldOf = (type: string, name: string) =>
      (schema.getType(type) as GraphQLObjectType).getFields()[name]?.type
    expect(fieldOf('Query', 'shelf')).toBe(schema.getType('Shelf'))
    expect(fieldOf('Shelf', 'book')).toBe(schema.getType('Book'))
    expect(fieldOf('Book', 'author')).toBe(schema.getType('Author'))
    expect(fieldOf('Author', 'shelf')).toBe(schema.getType('Shelf'))
  })

  it('also where an extension follows, and a type far below got a field', () => {
    const made = buildSchema(
      'type Query { library: Library } type Library { shelf: Shelf } type Shelf { book: Book } type Book { id: ID }',
    )
    const library: Source = { id: 'library', fields: [], schema: made }
    const titles: Source = {
      id: 'titles',
      fields: [{ parent: 'Book', name: 'title', type: 'String', origin: 'a test' }],
      extend: (schema) =>
        extendSchema(schema, parse('extend type Shelf { id: ID }'), { assumeValidSDL: true }),
    }
    const { schema } = mergeSources(null, [library, titles])
    expect(printSchema(schema)).toContain('type Book {\n  id: ID\n  title: String\n}')
    expect(validateSchema(schema)).toEqual([])
    expect(Object.keys((made.getType('Book') as GraphQLObjectType).getFields())).toEqual(['id'])
  })
})
