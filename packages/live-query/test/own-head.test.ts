import type { Plugin } from 'graphql-yoga'
import { afterEach, expect, it } from 'vitest'
import { startLive, type LiveSetup } from './support.ts'

// What a plugin says to the server about the head of an answer is for no client, whatever way the answer takes.

let setup: LiveSetup
afterEach(() => setup.close())

const saying: Plugin = {
  onExecute: () => ({
    onExecuteDone({ result, setResult }) {
      const extensions = { http: { headers: { 'x-own': 'a secret' } }, cost: 1 }
      if (!(Symbol.asyncIterator in result)) setResult({ ...result, extensions })
    },
  }),
}

async function overHttp(query: string, accept: string): Promise<string> {
  const leaving = new AbortController()
  const response = await fetch(setup.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query }),
    signal: leaving.signal,
  })
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('"cost"')) break
  }
  leaving.abort()
  return text
}

async function overSocket(query: string): Promise<string> {
  const socket = await setup.ready()
  socket.sendJson({ type: 'subscribe', id: '1', payload: { query } })
  return (await socket.next()).text
}

const PLAIN = '{ plain }'
const LIVE = 'query @live { users { totalCount } }'
const PARTS = 'multipart/mixed;subscriptionSpec=1.0'

it.each<[string, () => Promise<string>]>([
  ['a query', () => overHttp(PLAIN, 'application/json')],
  ['a query in a part', () => overHttp(PLAIN, PARTS)],
  ['a live query in parts', () => overHttp(LIVE, PARTS)],
  ['a live query as events', () => overHttp(LIVE, 'text/event-stream')],
  ['a query on a socket', () => overSocket(PLAIN)],
  ['a live query on a socket', () => overSocket(LIVE)],
])('%s', async (_, ask) => {
  setup = await startLive({ realTime: true, yoga: { plugins: [saying] } })
  const text = await ask()
  expect(text).toContain('"cost":1')
  expect(text).not.toContain('secret')
})
