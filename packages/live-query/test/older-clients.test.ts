import { get } from 'node:http'
import { createLiveQueryStore, useLiveQuery } from '../src/index.ts'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { startLive, subscribe, type LiveSetup } from './support.ts'

// Clients that were written for graphql-live-query, and servers with its options.

let setup: LiveSetup | undefined
afterEach(async () => {
  await setup?.close()
  setup = undefined
})

const USER = 'query @live { user(id: 1) { name } }'

describe("updateFields: 'extensions'", () => {
  it('leaves data, errors and extensions alone in the payload, those of the server among them', async () => {
    setup = await startLive({
      ws: { updateFields: 'extensions' },
      before: [
        {
          onExecute: () => ({
            onExecuteDone: ({ result, setResult }: any) =>
              'data' in result && setResult({ ...result, extensions: { runs: setup?.world.reads } }),
          }),
        },
      ],
    })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a "b', USER))
    const liveQuery = { id: 'a "b', is_initial: true, revision: 1, timestamp: expect.any(Number) }
    expect(await socket.nextJson()).toEqual({
      id: 'a "b',
      type: 'next',
      payload: { data: { user: { name: 'Ada' } }, extensions: { runs: 1, liveQuery } },
    })
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(200)
    expect((await socket.nextJson()).payload).toEqual({
      data: { user: { name: 'Eve' } },
      extensions: {
        runs: 2,
        liveQuery: { ...liveQuery, is_initial: false, revision: 2, changed_fields: ['user.name'] },
      },
    })
    setup.world.failure = new Error('a detail')
    await setup.changeUser('1', { name: 'Joan' })
    await setup.clock.advance(200)
    expect((await socket.nextJson()).payload).toMatchObject({
      data: { user: null },
      errors: [{ message: 'Unexpected error.' }],
      extensions: { runs: 3, liveQuery: { revision: 3 } },
    })
  })
})

/** What an `EventSource` is sent: all text so far. */
function openSource(query: string, headers: Readonly<Record<string, string>> = {}): () => string {
  let text = ''
  const request = get(
    `${setup?.url}?query=${encodeURIComponent(query)}`,
    { headers: { accept: 'text/event-stream', ...headers } },
    (response) => response.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk)),
  )
  onTestFinished(() => void request.destroy())
  leave = () => void request.on('error', () => {}).destroy()
  return () => text
}
let leave = (): void => {}

const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/^event: ?(.*)$/gm)].map(([, name = '']) => name)
const dataIn = (text: string): readonly any[] =>
  [...text.matchAll(/^data: ?(.+)$/gm)].map(([, data = '']) => JSON.parse(data))

describe('eventNames: false', () => {
  it('names no event of a live query, and a client that leaves ends it', async () => {
    setup = await startLive({ plugin: { eventNames: false } })
    const text = openSource(USER)
    await expect.poll(() => dataIn(text())).toMatchObject([{ data: { user: { name: 'Ada' } } }])
    for (const name of ['Eve', 'Žofie 🦊', 'event: next']) {
      await setup.changeUser('1', { name })
      await setup.clock.advance(200)
      await expect.poll(() => dataIn(text()).at(-1)).toMatchObject({ data: { user: { name } } })
    }
    expect(namesIn(text())).toEqual([])
    expect(dataIn(text())).toHaveLength(4)
    leave()
    await expect.poll(() => setup?.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
  })

  it.each([
    ['a subscription', 'subscription { countdown(from: 1) }', 2],
    ['what is no stream', '{ plain }', 1],
    ['what is refused', 'query @live { plain }', 1],
  ])('names no event of %s but its end', async (_, query, results) => {
    setup = await startLive({ plugin: { eventNames: false } })
    const text = openSource(query)
    await expect.poll(() => namesIn(text())).toEqual(['complete'])
    expect(dataIn(text())).toHaveLength(results)
  })

  it.each<readonly [string, boolean, Readonly<Record<string, string>>]>([
    ['without it', true, {}],
    ['who takes JSON too', false, { accept: 'text/event-stream, application/json' }],
  ])('leaves the names to other clients: %s', async (_, eventNames, headers) => {
    setup = await startLive({ plugin: { eventNames } })
    const text = openSource('subscription { countdown(from: 1) }', headers)
    await expect.poll(() => namesIn(text())).toEqual(['next', 'next', 'complete'])
  })
})

it.each<readonly [string, () => unknown, string]>([
  [
    'liveQueryStore',
    () => useLiveQuery({ liveQueryStore: {} } as object),
    'live query: option liveQueryStore belongs to @envelop/live-query; use store: createLiveQueryStore().',
  ],
  [
    'applyLiveQueryPatchGenerator',
    () => useLiveQuery({ applyLiveQueryPatchGenerator: () => {} } as object),
    'live query: option applyLiveQueryPatchGenerator belongs to @envelop/live-query; remove the option, because @vinyasa/live-query always sends the complete result.',
  ],
  [
    'indexBy',
    () => createLiveQueryStore({ indexBy: [] } as object),
    'live query: option indexBy belongs to @n1ru4l/in-memory-live-query-store; remove the option, because @vinyasa/live-query does not have it.',
  ],
  [
    'validateThrottleValue',
    () => createLiveQueryStore({ validateThrottleValue: () => 1 } as object),
    'live query: option validateThrottleValue belongs to @n1ru4l/in-memory-live-query-store; use throttleMs in the option fields or defaults.',
  ],
])('the option %s is refused with what is here', (_, open, message) => {
  expect(open).toThrow(message)
})
