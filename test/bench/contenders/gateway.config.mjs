// The config of the gateway under test, for every scenario: what its environment does not name is not there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joined } from 'node:path'
import { fileURLToPath } from 'node:url'
import { field } from '@vinyasa/rest-connector'

const { BENCH_GRPC_URL: grpc, BENCH_REST_URL: rest, BENCH_SCHEMA: schema } = process.env
const {
  BENCH_LOG: level = 'info',
  BENCH_CACHE: cache,
  BENCH_METRICS: metrics,
  BENCH_TRACES: traces,
  BENCH_WITH: added = '',
  BENCH_DOCUMENT: known = '',
  BENCH_DOCUMENT_BYTES: documentBytes,
} = process.env
const proto = (name) => fileURLToPath(new URL(name, import.meta.url))

const { required: id } = field.string
const { string } = field
const product = {
  id,
  name: string,
  description: string,
  brand: string,
  price: field.float,
  stock: field.int,
  active: field.boolean,
  rating: field.float,
  reviews: field.int,
  updated: string,
}

const list = (typeName, itemType, fields) => ({
  typeName,
  fields: { items: field.list(field.object(itemType, fields)) },
})

const endpoints = {
  catalog: [
    {
      name: 'product',
      path: '/products/{id}',
      args: { id: 'String!' },
      responseSchema: { typeName: 'Product', fields: product },
    },
    {
      name: 'products',
      path: '/products',
      args: { limit: 'Int' },
      queryParams: { limit: '{limit}' },
      responseSchema: list('ProductList', 'Product', product),
    },
  ],
  posts: [
    {
      name: 'posts',
      path: '/posts',
      args: { limit: 'Int' },
      queryParams: { limit: '{limit}' },
      responseSchema: list('PostList', 'Post', { id, title: string, userId: string }),
    },
  ],
  users: [
    {
      name: 'usersByIds',
      path: '/users',
      args: { ids: '[String!]!' },
      queryParams: { ids: '{ids}' },
      responseSchema: { typeName: 'User', fields: { id, name: string, email: string } },
      returnType: '[User!]!',
      rootField: false,
      on: { type: 'Post', field: 'author', args: { ids: '{userId}' }, batch: { key: 'id' } },
    },
  ],
}

const join = {
  type: 'Post',
  field: 'author',
  batch: { method: 'bench.v1.UserService.BatchGetUsers', keys: 'ids', items: 'users', parentKey: 'userId' },
}

const query = (name) => ({ schema: { type: 'QUERY', name } })

function overGrpc(endpoint) {
  if (schema === 'posts') {
    const methods = { 'bench.v1.PostService.ListPosts': query('posts') }
    return { protoFiles: [proto('posts.proto')], endpoint, methods, joins: rest ? [] : [join] }
  }
  const methods = {
    'bench.v1.CatalogService.GetProduct': query('product'),
    'bench.v1.CatalogService.ListProducts': query('products'),
    'bench.v1.CatalogService.UpdateProduct': { schema: { type: 'MUTATION', name: 'updateProduct' } },
  }
  return { protoFiles: [proto('catalog.proto')], endpoint, methods }
}

function overRest(baseUrl) {
  const { catalog, posts, users } = endpoints
  if (schema !== 'posts') return { baseUrl, cacheSize: 0, endpoints: catalog }
  return { baseUrl, cacheSize: 0, endpoints: grpc ? users : [...posts, ...users] }
}

/** What people deploy besides, by the words in `BENCH_WITH`. */
const deployable = {
  rateLimit: () => ({ rateLimit: { rules: [{ max: 1e9, windowSeconds: 60 }] } }),
  apq: () => ({ apq: true }),
  ids: () => ({ persistedDocuments: { from: documents() } }),
  auth: () => ({
    auth: {
      jwt: {
        issuers: [
          { issuer: 'bench', audience: 'bench', secret: 'a secret of the benchmark that is long enough' },
        ],
      },
    },
    access: { fields: { [`Query.${/\{\s*(\w+)/.exec(known)?.[1]}`]: { authenticated: true } } },
  }),
  cost: () => ({ cost: { max: 1_000_000 } }),
  metrics: () => ({ metrics: true }),
  log: () => ({ log: { level: 'info' } }),
}

/** A plugin with one hook, which does next to nothing. */
let seen = 0
const plugin = (hook) => ({ plugins: [{ readsHeaders: [], [hook]: () => void seen++ }] })

function documents() {
  const folder = mkdtempSync(joined(tmpdir(), 'bench-documents-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(joined(folder, 'known.graphql'), known)
  return folder
}

export default {
  log: { level },
  ...(documentBytes && { graphql: { documentCacheMaxBytes: Number(documentBytes) } }),
  ...(metrics && { metrics: true }),
  ...(traces && { tracing: true }),
  ...(cache && { responseCache: { defaultTtlMs: 3_600_000 } }),
  ...(grpc && { grpc: { backend: overGrpc(grpc) } }),
  ...(rest && { rest: { [grpc ? 'users' : 'backend']: overRest(rest) } }),
  ...(schema === 'hello' && {
    typeDefs: 'type Query { hello: String }',
    resolvers: { Query: { hello: () => 'world' } },
    dependencies: { 'Query.hello': { variesBy: [] } },
  }),
  ...added
    .split(' ')
    .filter(Boolean)
    .reduce((all, word) => ({ ...all, ...(deployable[word]?.() ?? plugin(word)) }), {}),
}
