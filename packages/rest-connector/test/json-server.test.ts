import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createDisposables, freePort, waitUntil } from '@vinyasa/test-kit'
import { createInvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import { createYoga } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRestConnector, field, useRestConnector, type RestEndpoint } from '../src/index.ts'

/** A REST server that is not ours: json-server, in a process of its own. */
const cleanup = createDisposables()
const events: InvalidationEvent[] = []
let yoga: ReturnType<typeof createYoga>

const Post = {
  typeName: 'Post',
  fields: { id: field.id.required, title: field.string, views: field.int, authorId: field.id },
}
const Author = { typeName: 'Author', fields: { id: field.id.required, name: field.string } }
const endpoints: RestEndpoint[] = [
  {
    name: 'posts',
    path: '/posts',
    queryParams: { _sort: '{sort}', _limit: '{limit}', authorId: '{authorId}' },
    args: { limit: 'Int', authorId: '[ID!]' },
    returnType: '[Post!]!',
    responseSchema: Post,
    on: {
      type: 'Author',
      field: 'posts',
      args: { authorId: '{id}' },
      batch: { key: 'authorId', many: true },
    },
  },
  { name: 'post', path: '/posts/{id}', args: { id: 'ID!' }, responseSchema: Post },
  {
    name: 'authors',
    path: '/authors',
    queryParams: { id: '{ids}' },
    args: { ids: '[ID!]' },
    returnType: '[Author!]!',
    responseSchema: Author,
    on: { type: 'Post', field: 'author', args: { ids: '{authorId}' }, batch: { key: 'id' } },
  },
  {
    name: 'createPost',
    path: '/posts',
    method: 'POST',
    args: { title: 'String!', views: 'Int', authorId: 'Int' },
    returnType: 'Post',
  },
  {
    name: 'updatePost',
    path: '/posts/{id}',
    method: 'PATCH',
    bodyTemplate: '{"title": {title}}',
    returnType: 'Post',
  },
  { name: 'deletePost', path: '/posts/{id}', method: 'DELETE', returnType: 'Post' },
]

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rest-connector-'))
  cleanup.use(() => rm(folder, { recursive: true }))
  const database = join(folder, 'db.json')
  await writeFile(
    database,
    JSON.stringify({
      posts: [
        { id: 1, title: 'One', views: 10, authorId: 2 },
        { id: 2, title: 'Two', views: 20, authorId: 1 },
        { id: 3, title: 'Three', views: 30, authorId: 2 },
      ],
      authors: [
        { id: 1, name: 'Ada' },
        { id: 2, name: 'Grace' },
      ],
    }),
  )
  const port = await freePort()
  const require = createRequire(import.meta.url)
  const bin = join(dirname(require.resolve('json-server/package.json')), 'lib/cli/bin.js')
  const server = spawn(process.execPath, [
    bin,
    '--quiet',
    '--port',
    String(port),
    '--host',
    '127.0.0.1',
    database,
  ])
  cleanup.use(() => server.kill())
  const baseUrl = `http://127.0.0.1:${port}`
  await waitUntil(async () => (await fetch(`${baseUrl}/posts`)).ok, { timeoutMs: 20_000 })
  const bus = createInvalidationBus()
  bus.subscribe((published) => void events.push(...published))
  const connector = cleanup.use(createRestConnector('blog', { baseUrl, endpoints, bus, cacheSize: 100 }))
  yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
})
afterAll(() => cleanup.dispose())

async function ask(query: string): Promise<any> {
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return response.json()
}

describe('json-server behind the plugin', () => {
  it('answers lists, single items and joins both ways', async () => {
    expect(
      await ask(
        '{ posts(sort: "views", limit: 2) { title author { name } } authors { name posts { title } } post(id: 3) { views } }',
      ),
    ).toEqual({
      data: {
        posts: [
          { title: 'One', author: { name: 'Grace' } },
          { title: 'Two', author: { name: 'Ada' } },
        ],
        authors: [
          { name: 'Ada', posts: [{ title: 'Two' }] },
          { name: 'Grace', posts: [{ title: 'One' }, { title: 'Three' }] },
        ],
        post: { views: 30 },
      },
    })
  })

  it('creates, updates and deletes, and what is read afterwards is never old, with the cache on', async () => {
    expect(await ask('mutation { createPost(title: "Four", views: 40, authorId: 1) { id } }')).toEqual({
      data: { createPost: { id: '4' } },
    })
    expect(await ask('{ authors { posts { id } } post(id: 4) { title } }')).toEqual({
      data: {
        authors: [{ posts: [{ id: '2' }, { id: '4' }] }, { posts: [{ id: '1' }, { id: '3' }] }],
        post: { title: 'Four' },
      },
    })
    await ask('mutation { updatePost(id: "4", title: "Vier \\"quoted\\"") { id } }')
    expect(await ask('{ post(id: 4) { title } }')).toEqual({ data: { post: { title: 'Vier "quoted"' } } })
    await ask('mutation { deletePost(id: "4") { id } }')
    const { data, errors } = await ask('{ post(id: 4) { title } }')
    expect(data).toEqual({ post: null })
    expect(errors[0].extensions).toMatchObject({ code: 'NOT_FOUND', status: 404 })
    expect(events).toEqual([
      { entityType: 'Post', operation: 'create', entityId: '4' },
      { entityType: 'Post', operation: 'update', entityId: '4' },
      // The answer to a delete does not say whose it is.
      { entityType: 'Post', operation: 'delete' },
    ])
  })
})
