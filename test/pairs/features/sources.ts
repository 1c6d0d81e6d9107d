import { type Arbitrary, boolean, constant, constantFrom, record } from 'fast-check'
import type { Feature, Surroundings, Value } from '../feature.ts'
import { type Content, mergePieces, type Piece } from '../config-file.ts'
import { PROTO } from '../library.ts'
import { ASKED_BY_CODE } from '../operations.ts'

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

const beside = (
  name: string,
  grpc: Arbitrary<Piece> = constant({}),
  rest: Arbitrary<Piece> = constant({}),
): Value => ({
  name,
  config: (surroundings) =>
    record({ grpc: record({ books: grpc }), rest: record({ authors: rest }) }).map((more) =>
      mergePieces([backends(surroundings), more]),
    ),
})

/** Bounds that nothing asked here comes near. */
const BOUNDED = {
  grpc: record({
    timeoutMs: constantFrom(5_000, 30_000),
    retry: constantFrom<Piece>({ maxRetries: 0 }, { maxRetries: 5, initialBackoffMs: 10, maxBackoffMs: 100 }),
    maxResponseItems: constantFrom(1_000, 100_000),
    channel: record({
      keepalive: constant({ timeMs: 10_000, timeoutMs: 5_000 }),
      maxReceiveBytes: constant(1_000_000),
      maxSendBytes: constant(1_000_000),
      maxConcurrentCalls: constantFrom(4, 100),
      maxConnections: constantFrom(1, 4),
      connectTimeoutMs: constant(5_000),
    }),
    fieldMasks: boolean(),
    metadata: constant({ static: { 'x-gateway': 'pairs' } }),
  }),
  rest: record({
    timeoutMs: constantFrom(5_000, 30_000),
    totalTimeoutMs: constantFrom(10_000, 60_000),
    retry: constantFrom<Piece>({ maxRetries: 0 }, { maxRetries: 5, initialBackoffMs: 10, multiplier: 1 }),
    breaker: constantFrom<Content>(false, { threshold: 0.5, halfOpenAfterMs: 100 }),
    cacheSize: constantFrom(1, 1_000),
    cacheMaxBytes: constantFrom(1_000, 1_000_000),
    cacheTtlMs: constantFrom(1, 60_000),
    limitsResponseCache: boolean(),
    defaultHeaders: constant({ 'x-gateway': 'pairs' }),
    maxResponseBytes: constant(1_000_000),
    maxResponseItems: constant(10_000),
    maxRequestsPerOperation: constantFrom(100, 1_000),
    maxConnections: constantFrom(4, 64),
    maxConnectionAgeMs: constantFrom(100, 60_000),
    logBodies: boolean(),
  }),
}

export const sources: Feature = {
  name: 'sources',
  settings: ['grpc', 'rest'],
  values: [
    beside('plans'),
    beside('resolvers', constant({ plans: false }), constant({ plans: false, cacheSize: 0 })),
    beside('shared calls', constant({ dedupe: 'inflight' })),
    beside('grpc-js', constant({ transport: 'grpc-js', dedupe: false }), constant({ noRetry: true })),
    beside(
      'compressed',
      constant({ channel: { compression: 'gzip' } }),
      constant({ healthPath: '/authors?health' }),
    ),
    beside('bounded', BOUNDED.grpc, BOUNDED.rest),
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
      headers: ASKED_BY_CODE,
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
            answerTimeoutMs: constantFrom(60_000, 120_000),
            host: constantFrom('127.0.0.1', 'localhost'),
            headersTimeoutMs: constantFrom(1_000, 10_000),
            requestTimeoutMs: constantFrom(5_000, 30_000),
            maxConnections: constantFrom(200, 1_000),
            sendTimeoutMs: constantFrom(2_000, 30_000),
            trustProxy: constantFrom<Content>(true, ['loopback']),
            livenessPath: constantFrom('/alive', '/health/live'),
          }),
        }),
    },
  ],
}
