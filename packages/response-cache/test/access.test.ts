import { createSchema, createYoga } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { useResponseCache } from '@vinyasa/response-cache'

/** Readers of the secret are those whose header says so; the plugin of the rules stands behind the cache. */
function start() {
  let executed = 0
  const mayRead = (context: object): boolean => (context as { readonly mayRead?: boolean }).mayRead === true
  const yoga = createYoga({
    logging: false,
    schema: createSchema({
      typeDefs: 'type Query { open: Int secret: Int }',
      resolvers: {
        Query: {
          open: () => ++executed,
          secret: (_, __, context: object) => {
            if (!mayRead(context)) throw new Error('refused')
            return ++executed
          },
        },
      },
    }),
    plugins: [
      {
        onRequestParse({ request, serverContext }) {
          Object.assign(serverContext, { mayRead: request.headers.get('x-reader') === 'yes' })
        },
      },
      useResponseCache({
        varyHeaders: [],
        ignoredReads: ['x-reader'],
        access({ document }) {
          if (!JSON.stringify(document).includes('secret')) return undefined
          return { headers: ['x-reader'], keyOf: (context) => (mayRead(context) ? '' : null) }
        },
      }),
    ],
  })
  return async (query: string, reader: string, method = 'POST') => {
    const url = 'http://localhost/graphql'
    const headers = { 'content-type': 'application/json', 'x-reader': reader }
    const response = await (method === 'GET'
      ? yoga.fetch(`${url}?query=${encodeURIComponent(query)}`, { headers })
      : yoga.fetch(url, { method, headers, body: JSON.stringify({ query }) }))
    const { data } = (await response.json()) as { data: Record<string, number | null> }
    return { data, headers: response.headers, outcome: response.headers.get('x-cache') }
  }
}

it('who may have an answer shares it with all who may, and who may not neither gets nor leaves one', async () => {
  const ask = start()
  expect(await ask('{ secret }', 'no')).toMatchObject({ data: { secret: null }, outcome: 'BYPASS' })
  expect(await ask('{ secret }', 'yes')).toMatchObject({ data: { secret: 1 }, outcome: 'MISS' })
  expect(await ask('{ secret }', 'yes')).toMatchObject({ data: { secret: 1 }, outcome: 'HIT' })
  expect(await ask('{ secret }', 'no')).toMatchObject({ data: { secret: null }, outcome: 'BYPASS' })
  expect(await ask('{ secret }', 'yes')).toMatchObject({ data: { secret: 1 }, outcome: 'HIT' })
})

it('what no rule concerns is shared by all', async () => {
  const ask = start()
  expect(await ask('{ open }', 'no')).toMatchObject({ data: { open: 1 }, outcome: 'MISS' })
  expect(await ask('{ open }', 'yes')).toMatchObject({ data: { open: 1 }, outcome: 'HIT' })
})

it('caches in between are told: such an answer is private, and differs by the headers that decide', async () => {
  const ask = start()
  for (const reader of ['yes', 'yes', 'no']) {
    const { headers } = await ask('{ secret }', reader, 'GET')
    expect(headers.get('cache-control')).toMatch(/^private/)
    expect(headers.get('vary')?.toLowerCase()).toContain('x-reader')
  }
  expect((await ask('{ open }', 'yes', 'GET')).headers.get('cache-control')).toBe('public, no-cache')
})
