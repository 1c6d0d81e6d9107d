import { buildSchema, executeSync, GraphQLError, type GraphQLSchema, parse } from 'graphql'
import { type Book, type Author, markOf, type Shelves } from './library.ts'
import type { Drawn } from './feature.ts'
import type { Operation } from './operations.ts'
import type { Answer } from './run.ts'
import { subjectOf, type User } from './users.ts'

const schema: GraphQLSchema = buildSchema(`
  type Query {
    book(id: String!): Book
    books: [Book!]
    author(id: ID!): Author
    authors: [Author!]
    findBook(id: String!): Book
    slow: String
    lang: String
    token: String
    latest: Book
    eldest: Author
    _entities(representations: [_Any!]!): [_Entity]!
  }
  scalar _Any
  union _Entity = Book | Author
  type Mutation {
    renameBook(id: String!, title: String!): Book
    renameAuthor(id: ID!, name: String!): Author
  }
  type Book { id: String! title: String! pages: Int! authorId: String author: Author shout: String }
  type Author { id: ID! name: String! email: String }
  directive @defer(label: String, if: Boolean) on FRAGMENT_SPREAD | INLINE_FRAGMENT
`)

type Headers = (name: string) => string | undefined

/** What clients get of one row when nothing is on: plain graphql-js over the shelves. */
export interface Reference {
  answer(operation: Operation, user: User, state: Shelves): Answer
  /** The headers that a backend of this kind sees of a user, by name. */
  seen(user: User, kind: 'grpc' | 'rest'): Headers
}

export function createReference(drawn: readonly Drawn[]): Reference {
  const values = drawn.map(({ value }) => value)
  const stated = values.flatMap(({ forwards = [] }) => forwards)
  const forwards =
    stated.length > 0
      ? { grpc: stated.flatMap(({ grpc }) => grpc), rest: stated.flatMap(({ rest }) => rest) }
      : { grpc: ['authorization'], rest: [] }

  function seen(user: User, kind: 'grpc' | 'rest'): Headers {
    const headers = Object.assign({}, user.headers, ...values.map(({ derives }) => derives?.(user)))
    return (name) => (forwards[kind].includes(name) ? headers[name] : undefined)
  }

  function denied(coordinate: string, user: User): void {
    for (const { denies } of values) {
      const code = denies?.(coordinate, user)
      if (code !== undefined) throw new GraphQLError('denied', { extensions: { code } })
    }
  }

  function answer(operation: Operation, user: User, { books, authors }: Shelves): Answer {
    const [ofGrpc, ofRest] = [markOf(seen(user, 'grpc')), markOf(seen(user, 'rest'))]
    const bookOf = (book: Book | undefined): object | null =>
      book
        ? {
            ...book,
            title: book.title + ofGrpc,
            shout: (book.title + ofGrpc).toUpperCase(),
            author: () => authorOf(authors.find(({ id }) => id === book.authorId)),
          }
        : null
    const authorOf = (author: Author | undefined): object | null =>
      author
        ? {
            ...author,
            name: author.name + ofRest,
            email: () => (denied('Author.email', user), author.email),
          }
        : null
    const rootValue = {
      book: ({ id }: { id: string }) => bookOf(books.find((book) => book.id === id)),
      books: () => books.map(bookOf),
      author: ({ id }: { id: string }) => authorOf(authors.find((author) => author.id === id)),
      authors: () => authors.map(authorOf),
      findBook() {
        throw new GraphQLError('wrong mark', { extensions: { code: 'BAD_USER_INPUT' } })
      },
      slow: () => `slow${ofRest}`,
      lang: () => `<x-lang=${user.headers['x-lang'] ?? ''}>`,
      token: () => `<authorization=${subjectOf(user.headers['authorization'] ?? '')}>`,
      _entities: ({ representations }: { representations: readonly { __typename: string; id: string }[] }) =>
        representations.map(({ __typename, id }) =>
          __typename === 'Book'
            ? { __typename, ...bookOf(books.find((book) => book.id === id)) }
            : { __typename, ...authorOf(authors.find((author) => author.id === id)) },
        ),
      latest: () => bookOf(books.find(({ id }) => id === '4')),
      eldest: () => authorOf(authors.find(({ id }) => id === '1')),
      renameBook: ({ id }: { id: string }) => bookOf(books.find((book) => book.id === id)),
      renameAuthor: ({ id }: { id: string }) => authorOf(authors.find((author) => author.id === id)),
    }
    return executeSync({
      schema,
      document: parse(operation.text),
      rootValue,
      variableValues: operation.variables,
    }) as Answer
  }
  return { answer, seen }
}
