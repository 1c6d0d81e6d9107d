import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { useResponseCache } from '../src/index.ts'

const HEADERS = { 'content-type': 'application/json', accept: 'text/event-stream, multipart/mixed' }

/** Results that come one after another, and how often their data was read. */
function createUpdates(parts: readonly object[]) {
  let reads = 0
  async function* stream() {
    for (const part of parts) {
      yield Object.defineProperty({ ...part }, 'data', {
        enumerable: true,
        get() {
          reads++
          return { hello: 'world' }
        },
      })
    }
  }
  return { stream, reads: () => reads }
}

it.each([
  ['live updates are read once, to be written', 'query @live { hello }', [{}, {}, {}], 3],
  [
    'deferred parts are put together for the next one who asks',
    '{ hello ... @defer { late: hello } }',
    [{ hasNext: true }, { hasNext: false }],
    2 + 2 * 2,
  ],
] as const)('%s', async (_sentence, query, parts, wanted) => {
  const { stream, reads } = createUpdates(parts)
  const streams: Plugin = {
    onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution(stream() as never),
  }
  const yoga = createYoga({
    logging: false,
    schema: createSchema({
      typeDefs:
        'directive @live on QUERY directive @defer on INLINE_FRAGMENT | FRAGMENT_SPREAD type Query { hello: String }',
    }),
    plugins: [useResponseCache(), streams],
  })
  const body = JSON.stringify({ query })
  const response = await yoga.fetch('http://yoga/graphql', { method: 'POST', headers: HEADERS, body })
  await response.text()
  expect(reads()).toBe(wanted)
})
