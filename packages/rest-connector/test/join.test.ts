import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createSchema, createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, field, useRestConnector, type RestEndpoint } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

/** Users of another source: their objects have names and representations of their own. */
const users = createSchema({
  typeDefs:
    'type Query { users(n: Int!): [User!]! } type User { id: ID! name: String nick: String tags: [String!] }',
  resolvers: {
    Query: {
      users: (_: unknown, { n }: { n: number }) =>
        Array.from({ length: n }, (__, i) => ({ user_id: BigInt(i + 1) })),
    },
    User: {
      id: (user: { user_id: bigint }) => user.user_id.toString(),
      name: (user: { user_id: bigint }) => `user ${user.user_id}`,
      nick: () => null,
      tags: () => ['a'],
    },
  },
})

const Review = { typeName: 'Review', fields: { id: field.id, userId: field.id, stars: field.int } }

async function serve(endpoints: RestEndpoint[]) {
  const backend = cleanup.use(
    await startRestBackend(({ url }) => {
      const ids = url.searchParams.getAll('userId')
      const last = url.pathname.split('/').at(-1)
      if (ids.length === 0) return { json: [{ id: `r${last}`, userId: last, stars: 5 }] }
      // In reverse order, two for each even user, none for the odd ones.
      return {
        json: ids
          .filter((id) => Number(id) % 2 === 0)
          .reverse()
          .flatMap((id) => [1, 2].map((n) => ({ id: `r${id}-${n}`, userId: Number(id), stars: n }))),
      }
    }),
  )
  const connector = cleanup.use(createRestConnector('reviews', { baseUrl: backend.url, endpoints }))
  const yoga = createYoga({ schema: users, plugins: [useRestConnector(connector)], logging: false })
  return {
    backend,
    connector,
    async ask(query: string): Promise<any> {
      const response = await yoga.fetch('http://yoga/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      return response.json()
    },
  }
}

describe('an endpoint with `on`', () => {
  it('resolves a field of a type that another source defines, through that type’s own resolvers', async () => {
    const { ask, backend } = await serve([
      {
        name: 'reviewsOf',
        path: '/users/{userId}',
        returnType: '[Review!]',
        responseSchema: Review,
        on: { type: 'User', field: 'reviews', args: { userId: '{id}' } },
      },
    ])
    expect(await ask('{ users(n: 2) { reviews { id } } }')).toEqual({
      data: { users: [{ reviews: [{ id: 'r1' }] }, { reviews: [{ id: 'r2' }] }] },
    })
    expect(backend.requests.map((request) => request.rawUrl)).toEqual(['/users/1', '/users/2'])
  })

  it('asks once for a thousand keys, in any order, with missing keys empty', async () => {
    const { ask, backend } = await serve([
      {
        name: 'reviewsByUsers',
        path: '/reviews',
        queryParams: { userId: '{userIds}' },
        args: { userIds: '[ID!]!' },
        returnType: '[Review!]',
        responseSchema: Review,
        rootField: false,
        on: [
          {
            type: 'User',
            field: 'reviews',
            args: { userIds: '{id}' },
            batch: { key: 'userId', many: true, maxBatchSize: 1000 },
          },
          {
            type: 'User',
            field: 'review',
            args: { userIds: '{id}' },
            batch: { key: 'userId', maxBatchSize: 1000 },
          },
        ],
      },
    ])
    const { data } = await ask('{ users(n: 1000) { reviews { id } review { stars } } }')
    expect(data.users.slice(0, 4)).toEqual([
      { reviews: [], review: null },
      { reviews: [{ id: 'r2-1' }, { id: 'r2-2' }], review: { stars: 1 } },
      { reviews: [], review: null },
      { reviews: [{ id: 'r4-1' }, { id: 'r4-2' }], review: { stars: 1 } },
    ])
    // The two fields ask for the same thing at the same time: one request serves both.
    expect(backend.requests).toHaveLength(1)
  })

  it('splits a batch of GET keys at 100, and keeps further arguments apart', async () => {
    const { ask, backend } = await serve([
      {
        name: 'reviewsByUsers',
        path: '/reviews',
        queryParams: { userId: '{userIds}', lang: '{lang}' },
        args: { userIds: '[ID!]!' },
        returnType: '[Review!]',
        responseSchema: Review,
        on: {
          type: 'User',
          field: 'reviews',
          args: { userIds: '{id}' },
          batch: { key: 'userId', many: true },
        },
      },
    ])
    await ask('{ users(n: 250) { en: reviews(lang: "en") { id } de: reviews(lang: "de") { id } } }')
    const sizes = backend.requests.map((request) => request.url.searchParams.getAll('userId').length)
    expect(sizes.sort((a, b) => b - a)).toEqual([100, 100, 100, 100, 50, 50])
  })

  it('says which field of the parent cannot be part of a text', async () => {
    const { ask } = await serve([
      {
        name: 'reviewsOf',
        path: '/users/{userId}',
        returnType: '[Review!]',
        responseSchema: Review,
        on: { type: 'User', field: 'reviews', args: { userId: 'u-{tags}' } },
      },
    ])
    const { errors } = await ask('{ users(n: 1) { reviews { id } } }')
    expect(errors[0].message).toBe('The value for "tags" must be a string, a finite number or a boolean.')
  })

  it('is null without a request when the parent’s field is null', async () => {
    const { ask, backend } = await serve([
      {
        name: 'byNick',
        path: '/nicks/{nick}',
        returnType: '[Review!]',
        responseSchema: Review,
        on: { type: 'User', field: 'reviews', args: { nick: '{nick}' } },
      },
    ])
    expect(await ask('{ users(n: 1) { reviews { id } } }')).toEqual({ data: { users: [{ reviews: null }] } })
    expect(backend.requests).toHaveLength(0)
  })

  it.each([
    ['by plans', true],
    ['by resolvers', false],
  ])('has no key in an empty text, alone and in a batch, %s', async (_how, plans) => {
    const backend = cleanup.use(
      await startRestBackend(({ url }) => {
        if (url.pathname === '/posts') return { json: [{ by: '' }, { by: '2' }, { by: null }] }
        const ids = url.searchParams.getAll('id')
        return { json: ids.map((id) => ({ id })) }
      }),
    )
    const Author = { typeName: 'Author', fields: { id: field.id } }
    const connector = cleanup.use(
      createRestConnector('blog', {
        baseUrl: backend.url,
        plans,
        endpoints: [
          {
            name: 'posts',
            path: '/posts',
            returnType: '[Post!]',
            responseSchema: { typeName: 'Post', fields: { by: field.string } },
          },
          {
            name: 'authors',
            path: '/authors',
            args: { ids: '[ID!]!' },
            queryParams: { id: '{ids}' },
            returnType: '[Author!]',
            responseSchema: Author,
            on: { type: 'Post', field: 'author', args: { ids: '{by}' }, batch: { key: 'id' } },
          },
          {
            name: 'editors',
            path: '/editors',
            args: { id: 'ID' },
            queryParams: { id: '{id}' },
            returnType: '[Author!]',
            responseSchema: Author,
            on: { type: 'Post', field: 'editors', args: { id: '{by}' } },
          },
        ],
      }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    const body = JSON.stringify({ query: '{ posts { author { id } editors { id } } }' })
    const headers = { 'content-type': 'application/json' }
    const answer = await yoga.fetch('http://yoga/graphql', { method: 'POST', headers, body })
    const nobody = { author: null, editors: null }
    expect(await answer.json()).toEqual({
      data: { posts: [nobody, { author: { id: '2' }, editors: [{ id: '2' }] }, nobody] },
    })
    const asked = backend.requests.map(({ url }) => url.pathname + url.search).toSorted()
    expect(asked).toEqual(['/authors?id=2', '/editors?id=2', '/posts'])
  })

  it.each([
    [
      { args: { nope: '{id}' } },
      'endpoint "byUser": the join User.reviews sets the argument "nope", which the endpoint does not have; expected userId',
    ],
    [
      { args: { userId: '{id}' }, batch: { key: 'x' } },
      'the batched join User.reviews needs an endpoint that returns a list',
    ],
  ])('refuses %j when the connector is created', (join, message) => {
    const on = { type: 'User', field: 'reviews', ...join } as RestEndpoint['on']
    expect(() =>
      createRestConnector('reviews', {
        baseUrl: 'http://127.0.0.1:1',
        endpoints: [{ name: 'byUser', path: '/{userId}', returnType: 'JSON', on }],
      }),
    ).toThrow(message)
  })

  it('refuses at start a field of the parent that does not exist', async () => {
    const on = { type: 'User', field: 'reviews', args: { userId: '{idd}' } }
    await expect(serve([{ name: 'byUser', path: '/{userId}', on }])).rejects.toThrow(
      'needs User.idd, which is not defined',
    )
  })

  it('counts against the calls that one operation may make', async () => {
    const { ask, backend } = await serve([
      {
        name: 'reviewsOf',
        path: '/users/{userId}',
        returnType: '[Review!]',
        responseSchema: Review,
        on: { type: 'User', field: 'reviews', args: { userId: '{id}' } },
      },
    ])
    const { errors } = await ask('{ users(n: 201) { reviews { id } } }')
    expect(errors.map((error: any) => error.extensions.code)).toEqual(['REST_TOO_MANY_REQUESTS_IN_OPERATION'])
    expect(backend.requests).toHaveLength(200)
  })
})
