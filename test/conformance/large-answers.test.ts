import { type DeferSplitterOptions, useDeferSplitter } from '@vinyasa/defer-splitter'
import { useLiveQuery } from '@vinyasa/live-query'
import { useSources } from '@vinyasa/source-kit'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { expect, it } from 'vitest'

// Whoever makes a large answer says when it is over: others wait for it, and the process has less garbage until then.

const COUNT = 50_000
const LIST = '{ ready things { id } }'
const DEFERRED = '{ ready ... @defer { things { id } } }'

interface Way {
  readonly query: string
  readonly plugins?: readonly object[]
  readonly accept?: string
  readonly maxAnswerObjects?: number
  readonly end?: RegExp
}

const defer = (strategy: DeferSplitterOptions['strategy']): object => useDeferSplitter({ strategy })
const MULTIPART = 'multipart/mixed, application/json'
const WAYS: Readonly<Record<string, Way>> = {
  'a query': { query: LIST },
  'a query that is refused': { query: '{ things { id more { id } } }', maxAnswerObjects: 60_000 },
  'a query with an error': { query: '{ things { id last } }' },
  'a deferred query, streaming': { query: DEFERRED, plugins: [defer('streaming')], accept: MULTIPART },
  'a deferred query, eager': { query: DEFERRED, plugins: [defer('eager')], accept: MULTIPART },
  'a live query': {
    query: `query @live ${LIST}`,
    plugins: [useLiveQuery({ defaults: { enabled: true } })],
    accept: 'text/event-stream',
    end: /49999/,
  },
}

it.each(Object.entries(WAYS))('%s: it is told that it is held, and when it is over', async (_, way) => {
  const { query, plugins = [], accept = 'application/json', maxAnswerObjects, end } = way
  const told: boolean[] = []
  const sources = useSources([], { maxAnswerObjects, onLargeAnswers: (areHeld) => void told.push(areHeld) })
  const yoga = createYoga({
    logging: false,
    plugins: [...plugins, sources] as Plugin[],
    schema: createSchema({
      typeDefs: 'type Query { ready: Boolean things: [Thing!] } type Thing { id: ID more: Thing last: ID! }',
      resolvers: {
        Query: {
          ready: () => true,
          things: () => Array.from({ length: COUNT }, (__, id) => ({ id })),
        },
        Thing: {
          more: ({ id }) => (id < 49_000 ? { id } : null),
          // Of the first objects that wait, which go on last.
          last: ({ id }) => (id === 2_000 ? null : id),
        },
      },
    }),
  })
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query }),
  })
  let text = ''
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    if (end?.test(text)) break
  }
  expect(text).toMatch(maxAnswerObjects || query.includes('last') ? /"errors"/ : /"id":"49999"/)
  expect(told).toEqual([true, false])
})
