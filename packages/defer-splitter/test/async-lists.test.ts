import { makeExecutableSchema } from '@graphql-tools/schema'
import { createFakeClock, waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestServer, partsOf } from './support/server.ts'

/** An open source that gives one item and then waits; it tells when it is closed. */
function createSource() {
  const seen = { opened: 0, closed: 0 }
  const open = (): AsyncIterable<string> => {
    seen.opened++
    let given = false
    return {
      [Symbol.asyncIterator]: () => ({
        next() {
          if (given) return new Promise(() => {})
          given = true
          return Promise.resolve({ done: false as const, value: 'first' })
        },
        return() {
          seen.closed++
          return Promise.resolve({ done: true as const, value: undefined })
        },
      }),
    }
  }
  const schema = makeExecutableSchema({
    typeDefs:
      'type Query { fast: String items: [String] late: [String] objects: [Thing] } type Thing { id: ID }',
    resolvers: {
      Query: { fast: () => 'fast', items: open, late: async () => open(), objects: open },
      Thing: { id: () => '1' },
    },
  })
  return { seen, schema }
}

const QUERIES: readonly (readonly [string, string, number])[] = [
  ['a list', '{ fast ... @defer { items } }', 1],
  ['a list that comes later', '{ fast ... @defer { late } }', 1],
  ['a list of objects', '{ fast ... @defer { objects { id } } }', 1],
  ['two lists', '{ fast ... @defer { items } ... @defer { late } }', 2],
]

it.each(QUERIES)('%s that waits is closed after fragmentTimeoutMs', async (_, query, count) => {
  const clock = createFakeClock()
  const { seen, schema } = createSource()
  const { post } = createTestServer({ schema, options: { fragmentTimeoutMs: 1_000 }, internals: { clock } })
  const body = (await post(query)).text()
  await waitUntil(() => seen.opened === count, { awaited: 'the sources' })
  await clock.advance(999)
  expect(seen.closed).toBe(0)
  await clock.advance(1)
  expect(seen.closed).toBe(count)
  expect(await body).toContain('DEFER_FRAGMENT_TIMEOUT')
  expect(seen.closed).toBe(count)
})

it.each([
  ...QUERIES,
  ['a list of two fragments', '{ fast ... @defer { items } ... @defer { items fast } }', 1] as const,
  ['a list of the first part', '{ items ... @defer { fast } }', 1] as const,
])('%s that waits is closed when the client leaves', async (_, query, count) => {
  const { seen, schema } = createSource()
  const client = new AbortController()
  const { post } = createTestServer({ schema })
  const left = post(query, { signal: client.signal })
    .then((response) => response.text())
    .catch(() => 'left')
  await waitUntil(() => seen.opened === count, { awaited: 'the sources' })
  expect(seen.closed).toBe(0)
  client.abort()
  await waitUntil(() => seen.closed === count, { awaited: 'the end of the sources' })
  await left
})

it('a list that ends is not closed, and one with an item that fails is', async () => {
  const closed: string[] = []
  const source = (name: string, items: readonly unknown[]) => ({
    async *[Symbol.asyncIterator]() {
      try {
        yield* items
        closed.push(`${name} ended`)
      } finally {
        closed.push(name)
      }
    },
  })
  const schema = makeExecutableSchema({
    typeDefs: 'type Query { fast: String good: [String!] bad: [String!] }',
    resolvers: {
      Query: { good: () => source('good', ['a', 'b']), bad: () => source('bad', ['a', null, 'b']) },
    },
  })
  const text = await (await createTestServer({ schema }).post('{ fast ... @defer { good bad } }')).text()
  expect(text).toContain('"good":["a","b"],"bad":null')
  expect(closed.toSorted()).toEqual(['bad', 'good', 'good ended'])
})

describe('an answer of a server without sources', () => {
  const schema = makeExecutableSchema({
    typeDefs: 'type Query { fast: String things: [Thing!]! } type Thing { id: String more: [Thing!]! }',
    resolvers: {
      Query: {
        fast: () => 'fast',
        things: () => Array.from({ length: 20 }, () => ({ id: 'long '.repeat(10) })),
      },
      Thing: { more: async ({ id }) => Array.from({ length: 20 }, () => ({ id })) },
    },
  })
  const all = 'things { more { id } }'

  it.each([
    ['objects', { maxAnswerObjects: 419 }, '{ fast ... @defer { ALL } }'],
    ['objects', { maxAnswerObjects: 419 }, '{ ALL ... @defer { fast } }'],
    ['objects', { maxAnswerObjects: 419 }, '{ things { id ... @defer { more { id } } } }'],
    ['bytes', { maxAnswerBytes: 20_000 }, '{ fast ... @defer { ALL } }'],
    ['bytes', { maxAnswerBytes: 20_000 }, '{ ALL ... @defer { fast } }'],
  ])('has no more %s than %j allows: %s', async (what, limits, query) => {
    const asked = query.replace('ALL', all)
    const { text } = createTestServer({ schema, internals: limits })
    const refused = await text(asked)
    expect(refused).toContain(`"code":"RESPONSE_TOO_LARGE"`)
    expect(refused).toContain(what)
    const parts = refused.startsWith('{')
      ? []
      : partsOf(refused).flatMap(({ incremental }) => incremental ?? [])
    const ofParts = parts.filter(({ data }) => data === null)
    expect(ofParts.map(({ errors }) => errors[0].path)).toEqual(ofParts.map(({ path }) => path))
    const within = createTestServer({ schema, internals: { maxAnswerObjects: 420, maxAnswerBytes: 40_000 } })
    expect(await within.text(asked)).not.toContain('RESPONSE_TOO_LARGE')
    const unlimited = createTestServer({ schema, internals: { maxAnswerObjects: 0, maxAnswerBytes: 0 } })
    expect(await unlimited.text(asked)).not.toContain('RESPONSE_TOO_LARGE')
  })
})

it('lists that wait in one fragment give no warning of a leak', async () => {
  const warnings: Error[] = []
  const hear = (warning: Error): void => void warnings.push(warning)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  const clock = createFakeClock()
  const { seen, schema } = createSource()
  const { post } = createTestServer({ schema, options: { fragmentTimeoutMs: 1_000 }, internals: { clock } })
  const lists = Array.from({ length: 20 }, (_, index) => `a${index}: items`).join(' ')
  const body = (await post(`{ fast ... @defer { ${lists} } }`)).text()
  await waitUntil(() => seen.opened === 20, { awaited: 'the sources' })
  await clock.advance(1_000)
  await body
  expect(seen.closed).toBe(20)
  expect(warnings.map(String)).toEqual([])
})
