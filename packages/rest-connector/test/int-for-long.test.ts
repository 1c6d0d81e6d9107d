import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createYoga } from 'graphql-yoga'
import { printSchema } from 'graphql'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

interface Asked {
  readonly answer: any
  readonly urls: readonly string[]
  readonly outcomes: readonly string[]
  readonly sdl: string
}

/** The same with plans and without. */
async function ask(body: string, query: string, variables: object = {}): Promise<Asked> {
  const asked: Asked[] = []
  for (const plans of [true, false]) {
    const backend = cleanup.use(
      await startRestBackend(({ url }) => ({
        headers: { 'content-type': 'application/json' },
        body: url.pathname === '/same' ? '[{"id":5000000000,"name":"Eve"},{"id":1,"name":"Ida"}]' : body,
      })),
    )
    const events: PlanEvent[] = []
    const connector = cleanup.use(
      createRestConnector('c', {
        baseUrl: backend.url,
        plans,
        rename: { Long: 'Int' },
        onPlan: (event) => events.push(event),
        endpoints: [
          {
            name: 'get',
            path: '/{id}',
            args: { id: 'Long = 7', ids: '[Long!]' },
            queryParams: { ids: '{ids}' },
            responseSchema: { typeName: 'T', fields: { v: 'long', l: '[long]', id: 'long' } },
          },
          { name: 'size', path: '/size', returnType: 'Long', responsePath: '$.v' },
          { name: 'sizes', path: '/sizes', returnType: '[Long]', responsePath: '$.l' },
          {
            name: 'named',
            path: '/same',
            args: { ids: '[Long!]!' },
            queryParams: { ids: '{ids}' },
            rootField: false,
            returnType: '[Named]',
            responseSchema: { typeName: 'Named', fields: { id: 'long', name: 'string' } },
            on: { type: 'T', field: 'same', args: { ids: '{id}' }, batch: { key: 'id' } },
          },
        ],
      }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    const response = await yoga.fetch('http://test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    asked.push({
      answer: await response.json(),
      urls: backend.requests.map(({ rawUrl }) => rawUrl),
      outcomes: events.map(({ outcome }) => outcome),
      sdl: printSchema(connector.schema),
    })
  }
  const [planned, ordinary] = asked as [Asked, Asked]
  expect(JSON.stringify(planned.answer)).toBe(JSON.stringify(ordinary.answer))
  expect(planned.urls).toEqual(ordinary.urls)
  return planned
}

describe('rename: { Long: Int }', () => {
  it('gives clients Int, planned or not, and takes it', async () => {
    const { answer, urls, outcomes, sdl } = await ask(
      '{"v":-2147483648,"l":[1,2,null],"id":1}',
      'query ($ids: [Int!]) { get(id: 2147483647, ids: $ids) { v l same { name } } default: get { id } size sizes }',
      { ids: [1, -2] },
    )
    expect(sdl).toContain('get(id: Int! = 7, ids: [Int!]): T')
    expect(sdl).not.toContain('Long')
    expect(answer).toEqual({
      data: {
        get: { v: -2147483648, l: [1, 2, null], same: { name: 'Ida' } },
        default: { id: 1 },
        size: -2147483648,
        sizes: [1, 2, null],
      },
    })
    expect(urls.toSorted()).toEqual(['/2147483647?ids=1&ids=-2', '/7', '/same?ids=1', '/size', '/sizes'])
    expect(outcomes).toEqual(['planned'])
  })

  it.each(['2147483648', '-2147483649', '9007199254740993', '"5000000000"'])(
    '%s is an error at its place, never another number',
    async (value) => {
      const query = '{ get { v l } size sizes }'
      const { answer } = await ask(`{"v":${value},"l":[1,${value}]}`, query)
      expect(answer.data).toEqual({ get: { v: null, l: [1, null] }, size: null, sizes: [1, null] })
      expect(answer.errors.map(({ path }: any) => path.join('.')).toSorted()).toEqual([
        'get.l.1',
        'get.v',
        'size',
        'sizes.1',
      ])
      for (const { message, extensions } of answer.errors) {
        expect(message).toMatch(/is an integer that exceeds 32 bits|has a value that is not a 32-bit integer/)
        expect(extensions.code).toMatch(/^(REST_BAD_RESPONSE|INTERNAL_SERVER_ERROR)$/)
      }
    },
  )

  it('a join goes by keys that do not fit', async () => {
    const { answer } = await ask('{"id":5000000000}', '{ get { same { name } } }')
    expect(answer).toEqual({ data: { get: { same: { name: 'Eve' } } } })
  })
})
