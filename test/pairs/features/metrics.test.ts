import { expect, it } from 'vitest'
import type { Run } from '../run.ts'
import { metrics } from './metrics.ts'

interface Seen {
  readonly queries: number
  readonly unheard: number
  readonly endedLive?: number
  readonly calls: number
}

/** What the observer says of a run in which clients have asked nothing but queries of live clients. */
function said(text: string, { queries, unheard, endedLive = 0, calls }: Seen): readonly string[] {
  const beside = {
    requests: 0,
    queries,
    mutations: 0,
    unheard,
    endedLive,
    bypassed: 0,
    statuses: [],
    codes: [],
  }
  const run: Partial<Run> = {
    row: { gateways: '1' },
    kept: new Map([['metrics', { status: 200, text, sent: 0, at: 1 }]]),
    sent: [],
    drawn: [],
    path: '/graphql',
    beside,
    grpcCalls: Array.from({ length: calls }, () => ({ method: 'library.v1.Books/GetBook', at: 0 }) as never),
    restRequests: [],
  }
  const on = metrics.values.find(({ name }) => name === 'on')
  return [...(on?.observe?.(run as Run, {}) ?? [])]
}

const OPERATIONS = 'vinyasa_operations_total{type="query"} 3'
const CALLS = 'vinyasa_backend_call_duration_seconds_count{source="books",kind="grpc",call="a",status='

it('a query whose connection ended before an answer may be counted, and no other that was not heard of', () => {
  const seen = { queries: 2, unheard: 1, calls: 0 }
  expect(said(OPERATIONS, seen)).toEqual([])
  expect(said(OPERATIONS, { ...seen, queries: 3 })).toEqual([])
  expect(said(OPERATIONS, { ...seen, queries: 4 })).toEqual([expect.stringContaining('query 3, not 4')])
  expect(said(OPERATIONS, { ...seen, unheard: 0 })).toEqual([expect.stringContaining('query 3, not 2')])
})

it('runs of live queries are those of their own counter', () => {
  const seen = { queries: 0, unheard: 0, calls: 0 }
  const runs = 'vinyasa_operations_total{type="live"} 3\nvinyasa_live_executions_total'
  expect(said(`${runs} 3`, seen)).toEqual([])
  expect(said(`${runs} 2`, seen)).toEqual([expect.stringContaining('live 3, not 2')])
  expect(said(`${runs} 4`, seen)).toEqual([expect.stringContaining('live 3, not 4')])
})

it('one run of a live query that the gateway ended may not have been executed', () => {
  const seen = { queries: 0, unheard: 0, endedLive: 1, calls: 0 }
  const runs = 'vinyasa_operations_total{type="live"} 3\nvinyasa_live_executions_total'
  expect(said(`${runs} 3`, seen)).toEqual([])
  expect(said(`${runs} 4`, seen)).toEqual([])
  expect(said(`${runs} 5`, seen)).toEqual([expect.stringContaining('live 3, not 4')])
  expect(said(`${runs} 2`, seen)).toEqual([expect.stringContaining('live 3, not 1')])
})

it('a call that was given up may not have come to the backend; of all others each has', () => {
  const seen = { queries: 0, unheard: 0, calls: 2 }
  const text = `${CALLS}"OK"} 2\n${CALLS}"CANCELLED"} 1`
  expect(said(text, seen)).toEqual([])
  expect(said(text, { ...seen, calls: 3 })).toEqual([])
  expect(said(text, { ...seen, calls: 4 })).toEqual([expect.stringContaining('grpc 2 to 3, not 4')])
  expect(said(text, { ...seen, calls: 1 })).toEqual([expect.stringContaining('grpc 2 to 3, not 1')])
})
