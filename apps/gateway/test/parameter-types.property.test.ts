import { temporaryFolder } from '@vinyasa/test-kit'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { OWN_SCHEMA, post, startGateway } from './support/gateway.ts'

const QUERY = '{ hello }'
const folder = await temporaryFolder('types', afterAll)
writeFileSync(join(folder, 'documents.json'), JSON.stringify({ known: QUERY }))
const persistedDocuments = { from: join(folder, 'documents.json') }
const sha256Hash = createHash('sha256').update(QUERY).digest('hex')

const FEATURES: Readonly<Record<string, GatewayConfig>> = {
  nothing: {},
  apq: { apq: true },
  'documents allowed': { persistedDocuments: { ...persistedDocuments, mode: 'allow' } },
  'documents logged': { persistedDocuments: { ...persistedDocuments, mode: 'log' } },
  'documents only': { persistedDocuments: { ...persistedDocuments, mode: 'only' } },
  'documents and apq': { apq: true, persistedDocuments: { ...persistedDocuments, mode: 'log' } },
  'rate limits': { rateLimit: { rules: [{ max: 10_000, windowSeconds: 60, by: 'address' }] } },
  cost: { cost: { max: 100 } },
  cache: { responseCache: true },
  batches: { graphql: { batching: 10 } },
  'live queries off, defer off': { liveQuery: false, defer: false },
}

/** Values of every type that JSON has, and some that look like others. */
const ODD: readonly unknown[] = [
  5,
  -1.5,
  0,
  true,
  false,
  '',
  'x',
  [],
  [QUERY],
  [[]],
  {},
  { a: 1 },
  { length: 3 },
  null,
  { toString: 1 },
]
const EXTENSIONS: readonly unknown[] = [
  { persistedQuery: 5 },
  { persistedQuery: null },
  { persistedQuery: [] },
  { persistedQuery: { version: 1, sha256Hash: 5 } },
  { persistedQuery: { version: 'x', sha256Hash } },
  { persistedQuery: { version: 1, sha256Hash: [sha256Hash] } },
  { persistedQuery: { sha256Hash: {} } },
]

function* requests(): Generator<object> {
  for (const name of ['query', 'operationName', 'variables', 'extensions', 'documentId', 'doc_id', 'id'])
    for (const value of ODD) {
      yield { query: QUERY, [name]: value }
      if (name !== 'query') yield { [name]: value }
      yield { query: value, variables: value, operationName: value, extensions: value }
    }
  for (const extensions of EXTENSIONS) for (const query of [undefined, QUERY, 5]) yield { query, extensions }
}

describe.each(Object.entries(FEATURES))('with %s', (_, config) => {
  it('parameters of any type are no 5xx, by POST, GET and form', async () => {
    const { endpoint } = await startGateway({ ...OWN_SCHEMA, preset: 'production', ...config })
    const headers = { 'x-graphql-yoga-csrf': 'x' }
    for (const parameters of requests()) {
      const search = new URLSearchParams(
        Object.entries(parameters)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
      )
      const answers = [
        await post(endpoint, parameters),
        await fetch(`${endpoint}?${search.toString()}`, { headers }),
        await fetch(endpoint, { method: 'POST', body: search, headers }),
        await post(endpoint, [parameters, { query: QUERY }]),
      ]
      const statuses = answers.map(({ status }) => status)
      const text = JSON.stringify(parameters)
      expect([text, statuses.filter((status) => status >= 500)]).toEqual([text, []])
      for (const answer of answers)
        expect(await answer.text()).not.toMatch(/Unexpected error|INTERNAL|at .*:\d+:\d+/)
    }
    const wrong = await post(endpoint, { query: 5 })
    expect(wrong.status).toBe(400)
    expect(await wrong.json()).toMatchObject({
      errors: [{ message: 'Expected "query" param to be a string, but given number.' }],
    })
  })
})
