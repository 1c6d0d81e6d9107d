import { getEventListeners } from 'node:events'
import { createDisposables, startRestBackend, waitUntil } from '@vinyasa/test-kit'
import { execute, parse } from 'graphql'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

describe('a field’s call ends', () => {
  it.each(['execution', 'request'])('when the %s is aborted', async (which) => {
    const backend = cleanup.use(await startRestBackend(() => ({ delayMs: 600_000 })))
    const connector = cleanup.use(
      createRestConnector('c', { baseUrl: backend.url, endpoints: [{ name: 'get', path: '/' }] }),
    )
    const ends = { execution: new AbortController(), request: new AbortController() }
    const field = connector.schema.getQueryType()?.getFields()['get']
    const resolve = field?.resolve
    // As an executor that hands the signal of the execution to resolvers does.
    if (field && resolve)
      field.resolve = (source, args, context, info) =>
        resolve(source, args, context, { ...info, signal: ends.execution.signal } as typeof info)
    const result = execute({
      schema: connector.schema,
      document: parse('{ get }'),
      contextValue: { request: { signal: ends.request.signal } },
    })
    await waitUntil(() => backend.requests.length === 1)
    ends[which as 'request'].abort()
    expect(await result).toMatchObject({
      data: { get: null },
      errors: [{ extensions: { code: 'CANCELLED' } }],
    })
    await waitUntil(() => backend.requests[0]?.cancelledAt)
  })
})

it('many calls of one operation hang one listener on its signal', async () => {
  const backend = cleanup.use(await startRestBackend(() => ({ delayMs: 600_000 })))
  const connector = cleanup.use(
    createRestConnector('c', { baseUrl: backend.url, endpoints: [{ name: 'get', path: '/{id}' }] }),
  )
  const abort = new AbortController()
  const { signal } = abort
  const result = execute({
    schema: connector.schema,
    document: parse(`{ ${Array.from({ length: 20 }, (_, id) => `a${id}: get(id: "${id}")`).join(' ')} }`),
    contextValue: { request: { signal } },
  })
  await waitUntil(() => backend.requests.length === 20)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  abort.abort()
  const { errors } = await result
  expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(
    Array.from({ length: 20 }, () => 'CANCELLED'),
  )
})
