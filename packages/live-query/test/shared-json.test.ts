import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { expect, it, onTestFinished } from 'vitest'
import { useLiveQuery } from '../src/index.ts'

const SUBSCRIBERS = 10

function startServer(plugins: readonly Plugin[] = []) {
  let written = 0
  let value = 'first'
  const live = useLiveQuery({ defaults: { enabled: true, throttleMs: 0 } })
  const yoga = createYoga({
    schema: createSchema({
      typeDefs: 'scalar Counted type Query { counted: Counted }',
      resolvers: {
        Query: { counted: () => ({ toJSON: () => (written++, value) }) },
      },
    }),
    plugins: [live, ...plugins],
    logging: false,
  })
  async function open(accept: string) {
    const response = await yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query: 'query @live { counted }' }),
    })
    const reader = response.body!.getReader()
    onTestFinished(() => reader.cancel().catch(() => {}))
    const decoder = new TextDecoder()
    return async (wanted: string): Promise<string> => {
      let text = ''
      while (!text.includes(wanted)) text += decoder.decode((await reader.read()).value, { stream: true })
      return text
    }
  }
  return {
    open,
    written: () => written,
    change(to: string) {
      value = to
      live.store.invalidate({ entityType: '*', operation: '*' })
    },
  }
}

it.each(['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'])(
  'serializes an update once for all subscribers of %s',
  async (accept) => {
    const { open, written, change } = startServer()
    const streams = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => open(accept)))
    await Promise.all(streams.map((until) => until('"first"')))
    const before = written()
    change('second')
    const texts = await Promise.all(streams.map((until) => until('"second"')))
    expect(written() - before).toBe(1)
    for (const text of texts) {
      expect(text).toMatch(/\{"data":\{"counted":"second"\},"extensions":\{"liveQuery":\{"id":.*\}\}/)
    }
  },
)

it('sends the data and extensions that a plugin sets', async () => {
  async function* changed(results: AsyncIterable<any>): AsyncGenerator<any> {
    let count = 0
    for await (const result of results) {
      count++
      if (count === 1) Object.assign(result.extensions, { added: 1 })
      if (count === 2) result.data = { counted: 'assigned' }
      yield count === 3 ? { ...result, data: { counted: 'copied' } } : result
    }
  }
  const changing: Plugin = {
    onResultProcess({ result, setResult }) {
      // Executions of the live query pass this hook too, with a single result.
      if (Symbol.asyncIterator in result) setResult(changed(result) as never)
    },
  }
  const { open, change } = startServer([changing])
  const until = await open('text/event-stream')
  expect(await until('\n\n')).toBe(':\n\n')
  expect(await until('\n\n')).toContain('"added":1')
  change('second')
  expect(await until('\n\n')).toContain('{"counted":"assigned"}')
  change('third')
  expect(await until('\n\n')).toContain('{"counted":"copied"}')
})
