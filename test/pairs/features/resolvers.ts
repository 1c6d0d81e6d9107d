import { constant } from 'fast-check'
import { Code } from '../config-file.ts'
import type { Feature } from '../feature.ts'
import { CALLER_HEADERS } from '../library.ts'

const common = {
  Query: {
    latest: new Code(
      "(_root, _args, context) => context.sources.books.call('library.v1.Books.GetBook', { id: '4' }, { context })",
    ),
    eldest: new Code(
      "(_root, _args, context) => context.sources.authors.execute('author', { id: '1' }, { context })",
    ),
  },
  Book: { shout: new Code('(book) => book.title.toUpperCase()') },
}

const typeDefs = (field: string): string =>
  `extend type Query { latest: Book eldest: Author ${field}: String }\nextend type Book { shout: String }`

export const resolvers: Feature = {
  name: 'resolvers',
  settings: ['typeDefs', 'resolvers', 'dependencies'],
  values: [
    { name: 'off' },
    {
      name: 'declared',
      operations: ['own', 'declared'],
      config: () =>
        constant({
          typeDefs: typeDefs('lang'),
          resolvers: {
            ...common,
            Query: {
              ...common.Query,
              lang: new Code(
                "(_root, _args, { request }) => `<x-lang=${request.headers.get('x-lang') ?? ''}>`",
              ),
            },
          },
          dependencies: {
            'Query.lang': { variesBy: ['x-lang'], dependsOn: [] },
            'Query.latest': { variesBy: [...CALLER_HEADERS] },
            'Query.eldest': { variesBy: [...CALLER_HEADERS] },
            'Book.shout': { variesBy: [] },
          },
        }),
    },
    {
      name: 'undeclared',
      operations: ['own', 'undeclared'],
      config: () =>
        constant({
          typeDefs: typeDefs('token'),
          resolvers: {
            ...common,
            Query: {
              ...common.Query,
              token: new Code(
                `(_root, _args, { request }) => {
      const sent = request.headers.get('authorization')
      const { sub } = sent ? JSON.parse(atob(sent.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))) : { sub: '' }
      return \`<authorization=\${sub}>\`
    }`,
              ),
            },
          },
        }),
    },
  ],
}
