import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import type { PlanEvent } from '@vinyasa/source-kit'
import { printSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const BODY = '{"v":9007199254740991,"l":[1,-9007199254740993,"5",null],"id":7}'

/** The text of the answer, how it came about, and what was asked of the backend. */
async function ask(plans: boolean, query: string, variables: object): Promise<readonly unknown[]> {
  const backend = cleanup.use(
    await startRestBackend(() => ({ headers: { 'content-type': 'application/json' }, body: BODY })),
  )
  const events: PlanEvent[] = []
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      plans,
      int64: 'number-when-safe',
      rename: { Long: 'BigInt' },
      onPlan: (event) => events.push(event),
      endpoints: [
        {
          name: 'get',
          path: '/{id}',
          args: { id: 'Long = 7' },
          responseSchema: { typeName: 'T', fields: { v: 'long', l: '[long]', id: 'long' } },
        },
      ],
    }),
  )
  expect(printSchema(connector.schema)).toContain('get(id: BigInt! = 7): T')
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
  const response = await yoga.fetch('http://test/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  })
  const outcomes = events.map(({ outcome }) => outcome)
  return [await response.text(), outcomes, backend.requests.map(({ rawUrl }) => rawUrl).toSorted()]
}

describe("int64: 'number-when-safe'", () => {
  it.each([
    [true, ['planned']],
    [false, ['unplanned']],
  ])('plans %s: gives numbers where they are exact, else digits, and takes both', async (plans, outcomes) => {
    const query = `query ($id: BigInt!, $digits: BigInt!) {
      get(id: $id) { v l id } digits: get(id: $digits) { id } literal: get(id: 9007199254740993) { id } default: get { id }
    }`
    const answer = `{"data":{"get":{"v":9007199254740991,"l":[1,"-9007199254740993",5,null],"id":7},"digits":{"id":7},"literal":{"id":7},"default":{"id":7}}}`
    const urls = ['/5', '/7', '/9007199254740993', '/9007199254740994']
    expect(await ask(plans, query, { id: 5, digits: '9007199254740994' })).toEqual([answer, outcomes, urls])
  })
})
