import type { ExecutionResult } from 'graphql'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { systemClock } from '@vinyasa/core'
import type { LiveQueryEngine } from '../src/execution/engine.ts'
import { createLiveExecution } from '../src/execution/live-execution.ts'
import type { Answer } from '../src/execution/passes.ts'
import { createFairTurns } from '../src/fair-turns.ts'
import { createConnections } from '../src/protocol/connections.ts'
import { createVersion, type LiveResult } from '../src/store/version.ts'

const ROWS = 40_000
const rows = Array.from({ length: ROWS }, (_, id) => ({ id, name: `name of ${id}`, tags: ['a', 'é'] }))
const subscribe = JSON.stringify({ id: 'a', type: 'subscribe', payload: { query: '{ rows }' } })

/** The number of turns is only a bound for a result that never comes: a pause of a slow job takes thousands of them. */
async function turnsUntil(isThere: () => boolean): Promise<number> {
  let turns = 0
  for (; !isThere() && turns < 3_000_000; turns++) await setImmediate()
  return turns
}

interface Opened {
  readonly frames: string[]
  /** The turns of the event loop in which nothing was sent. */
  until(count: number): Promise<number>
  receive(message: object | string): void
  close(): void
}

/** A socket whose `subscribe` is answered with this. */
async function open(result: ExecutionResult | AsyncIterable<ExecutionResult>): Promise<Opened> {
  const frames: string[] = []
  const engine = {
    turns: { openWork: () => ({ run: async (job: () => unknown) => job() }) },
    ask: async () => ({ kind: 'result', result }),
    clock: systemClock,
    onError: (error: unknown) => expect.unreachable(String(error)),
  } as unknown as LiveQueryEngine
  const connections = createConnections({
    engine,
    maxSubscriptionsPerSocket: 10,
    updateFields: 'payload',
    onConnect: undefined,
    toAsked: (_, params) => ({ url: 'http://x/', headers: new Headers(), params, context: () => ({}) }),
  })
  const socket = connections({
    socket: {
      protocol: 'graphql-transport-ws',
      bufferedBytes: () => 0,
      send(text, shared, onSent) {
        frames.push(text + String(shared ?? ''))
        onSent?.()
      },
      close: () => {},
      hold: () => {},
    },
    handshake: { client: '', url: 'http://x/', headers: new Headers(), encrypted: false },
    take: () => true,
  })
  const receive = (message: object | string): void =>
    void socket.receive(typeof message === 'string' ? message : JSON.stringify(message))
  const until = (count: number): Promise<number> => turnsUntil(() => frames.length >= count)
  receive({ type: 'connection_init' })
  await until(1)
  return { frames, receive, until, close: () => socket.closed() }
}

it('a long result is written in many turns of the event loop, and is what JSON.stringify says', async () => {
  const result = { data: { rows, none: undefined, at: new Date(0) }, extensions: { of: [1] } }
  const { frames, receive, until } = await open(result)
  receive(subscribe)
  expect(await until(3)).toBeGreaterThan(20)
  expect(JSON.parse(frames[1] as string)).toEqual(
    JSON.parse(JSON.stringify({ id: 'a', type: 'next', payload: result })),
  )
  expect(frames[2]).toBe('{"id":"a","type":"complete"}')
})

it.each([
  ['text', (json: string): unknown => json],
  ['bytes', (json: string): unknown => Buffer.from(json)],
])('a result that is JSON already goes out as it is: %s', async (_, form) => {
  const json = JSON.stringify({ data: { rows } })
  const result = {
    get data(): never {
      throw new Error('nobody looks at it')
    },
    stringify: () => form(json),
  }
  const { frames, receive, until } = await open(result)
  receive(subscribe)
  await until(3)
  expect(frames[1]).toBe(`{"id":"a","type":"next","payload":${json}}`)
})

it('results of a stream keep their order, each long one in turns', async () => {
  const { frames, receive, until } = await open(
    (async function* () {
      for (let at = 0; at < 3; at++) yield { data: { at, rows: at === 1 ? [] : rows } }
    })(),
  )
  receive(subscribe)
  await until(5)
  const sent = frames
    .slice(1)
    .map((frame) => JSON.parse(frame) as { type: string; payload?: { data: { at: number } } })
  expect(sent.map(({ type, payload }) => payload?.data.at ?? type)).toEqual([0, 1, 2, 'complete'])
})

it.each([
  ['completes', ({ receive }: Opened) => receive({ id: 'a', type: 'complete' })],
  ['leaves', ({ close }: Opened) => close()],
])('is given up when the client %s', async (_, leave) => {
  let written = 0
  const watched = rows.map((row) => ({ toJSON: () => (written++, row) }))
  const opened = await open({ data: { watched } })
  opened.receive(subscribe)
  await turnsUntil(() => written > 0)
  leave(opened)
  for (let turn = 0; turn < 200; turn++) await setImmediate()
  expect(opened.frames).toHaveLength(1)
  expect(written).toBeLessThan(ROWS)
})

it('a long result of a live query is written in many turns, and only once', async () => {
  let written = 0
  const data = { rows: rows.map((row) => ({ toJSON: () => (written++, row) })) }
  const answer: Answer = { kind: 'result', result: { data } }
  const execution = createLiveExecution({
    passes: { send: async () => answer },
    turns: createFairTurns(),
    revalidate: undefined,
    revalidateSeconds: 0,
    seenEvents: () => 0,
    clock: systemClock,
  })
  const asked = { url: 'http://x/', headers: new Headers(), params: {}, context: () => ({}) }
  const { signal } = new AbortController()
  let result: LiveResult | undefined
  void execution(asked)({ signal, first: true, client: 'a' }).then((given) => (result = given))
  expect(await turnsUntil(() => result !== undefined)).toBeGreaterThan(20)
  const rest = { previous: undefined, events: 0, emittedAt: 0, volatility: undefined, shared: false }
  const version = createVersion({ ...rest, result: result as LiveResult, changedFieldsDepth: 10 })
  expect(version.json).toBe(`"data":${JSON.stringify({ rows })}`)
  expect(written).toBe(ROWS)
})

it('sends all that a result has, what plugins add too', async () => {
  const { frames, receive, until } = await open({ data: { a: 1 }, hasNext: false } as ExecutionResult)
  receive(subscribe)
  await until(3)
  expect(frames[1]).toContain('"payload":{"data":{"a":1},"hasNext":false}')
})
