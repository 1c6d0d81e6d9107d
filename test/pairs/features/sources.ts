import { constant, record, constantFrom } from 'fast-check'
import type { Feature, Surroundings, Value } from '../feature.ts'
import type { Piece } from '../config-file.ts'
import { PROTO } from '../library.ts'

const author = { typeName: 'Author', fields: { id: 'id!', name: 'string!', email: 'string' } }

/** Both backends, as every row has them. */
function backends({ grpc, rest }: Surroundings): Piece {
  return {
    grpc: {
      books: {
        endpoint: grpc,
        protoText: { 'library.proto': PROTO },
        methods: {
          'library.v1.Books.GetBook': { schema: { type: 'QUERY', name: 'book' } },
          'library.v1.Books.ListBooks': {
            schema: { type: 'QUERY', name: 'books', response: { pluck: 'books' } },
          },
          'library.v1.Books.FindBook': { schema: { type: 'QUERY', name: 'findBook' } },
          'library.v1.Books.RenameBook': { schema: { type: 'MUTATION', name: 'renameBook' } },
        },
      },
    },
    rest: {
      authors: {
        baseUrl: rest,
        endpoints: [
          { name: 'authors', path: '/authors', responseSchema: author, returnType: '[Author!]' },
          { name: 'author', path: '/authors/{id}', args: { id: 'ID!' }, responseSchema: author },
          {
            name: 'authorsByIds',
            path: '/authors',
            args: { ids: '[ID!]!' },
            queryParams: { ids: '{ids}' },
            responseSchema: author,
            returnType: '[Author!]!',
            rootField: false,
            on: { type: 'Book', field: 'author', args: { ids: '{authorId}' }, batch: { key: 'id' } },
          },
          { name: 'slow', path: '/slow', returnType: 'String' },
          {
            name: 'renameAuthor',
            method: 'PUT',
            path: '/authors/{id}',
            args: { id: 'ID!', name: 'String!' },
            responseSchema: author,
          },
        ],
      },
    },
  }
}

const beside = (name: string, grpc: Piece, rest: Piece): Value => ({
  name,
  config: (surroundings) => {
    const { grpc: both, rest: other } = backends(surroundings) as Readonly<Record<string, Piece>>
    return constant({
      grpc: { books: { ...(both?.['books'] as Piece), ...grpc } },
      rest: { authors: { ...(other?.['authors'] as Piece), ...rest } },
    })
  },
})

export const sources: Feature = {
  name: 'sources',
  settings: ['grpc', 'rest'],
  values: [
    beside('plans', {}, {}),
    beside('resolvers', { plans: false }, { plans: false, cacheSize: 0 }),
    beside('shared calls', { dedupe: 'inflight' }, {}),
    beside('grpc-js', { transport: 'grpc-js', dedupe: false }, { noRetry: true }),
    beside('compressed', { channel: { compression: 'gzip' } }, { healthPath: '/authors?health' }),
  ],
}

export const preset: Feature = {
  name: 'preset',
  settings: ['preset'],
  values: [
    { name: 'development' },
    {
      name: 'production',
      config: () => constant({ preset: 'production' }),
      headers: { 'apollo-require-preflight': '1' },
    },
  ],
}

export const server: Feature = {
  name: 'server',
  settings: ['server'],
  values: [
    { name: 'usual' },
    {
      name: 'tight',
      config: () =>
        record({
          server: record({
            graceMs: constantFrom(2_000, 4_000),
            keepAliveTimeoutMs: constantFrom(0, 500),
            maxInFlight: constantFrom(20, 100),
            maxAddressShare: constant(1),
            answerTimeoutMs: constantFrom(5_000, 20_000),
          }),
        }),
    },
  ],
}
