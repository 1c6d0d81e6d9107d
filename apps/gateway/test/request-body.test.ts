import { setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { useRequestBody } from '../src/http/request-body.ts'

const REQUESTS = 100

it('long bodies of clients that left wait for no turn', async () => {
  let waiting = REQUESTS
  const watch: Plugin = {
    onRequestParse({ requestParser, setRequestParser }) {
      setRequestParser(async (request) => {
        try {
          return await requestParser!(request)
        } finally {
          waiting--
        }
      })
    },
  }
  const yoga = createYoga({
    schema: createSchema({ typeDefs: 'type Query { a: Int }' }),
    plugins: [useRequestBody({ maxBytes: 200_000, maxBodyItems: 100 }), watch],
    logging: false,
  })
  const left = new AbortController()
  setMaxListeners(0, left.signal)
  const body = JSON.stringify({ query: '{ a }', variables: { text: 'x'.repeat(100_000) } })
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const responses = Array.from({ length: REQUESTS }, async () =>
    yoga.fetch('http://x/graphql', { method: 'POST', headers, body, signal: left.signal }),
  )
  await setImmediate()
  await setImmediate()
  expect(waiting).toBeGreaterThan(REQUESTS - 20)
  left.abort()
  await Promise.allSettled(responses)
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  expect(waiting).toBe(0)
})
