import { createDisposables, startRestBackend, type RestAnswer } from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, field, useRestConnector, type PlanEvent } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const User = { typeName: 'User', fields: { id: field.id.required, name: field.string } }
const USER = '{ user(id: "1") { id name } }'

async function serve(
  plugins: readonly Plugin[] = [],
  options: object = {},
  users: RestAnswer = { json: [] },
) {
  const backend = cleanup.use(
    await startRestBackend(({ rawUrl }) => {
      if (rawUrl.startsWith('/users?')) return users
      if (rawUrl === '/posts') return { json: ['1', '2', '1'].map((userId) => ({ userId })) }
      return rawUrl === '/users/none' ? { status: 500 } : { json: { id: '1', name: 'Ada', secret: 1 } }
    }),
  )
  const events: PlanEvent[] = []
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      noRetry: true,
      onPlan: (event) => events.push(event),
      endpoints: [
        { name: 'user', path: '/users/{id}', responseSchema: User },
        {
          name: 'posts',
          path: '/posts',
          returnType: '[Post!]',
          responseSchema: { typeName: 'Post', fields: { userId: 'id' } },
        },
        {
          name: 'users',
          path: '/users',
          args: { ids: '[ID!]!' },
          queryParams: { ids: '{ids}' },
          returnType: '[User!]',
          rootField: false,
          on: { type: 'Post', field: 'author', args: { ids: '{userId}' }, batch: { key: 'id' } },
        },
      ],
      ...options,
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector) as Plugin, ...plugins], logging: false })
  const ask = async (query: string): Promise<any> => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  return { backend, events, ask }
}

const seen = (events: readonly PlanEvent[]): string[] => events.map(({ outcome }) => outcome)

describe('hooks with plans', () => {
  it.each<[string, Plugin, object]>([
    [
      'onExecuteDone sets another result',
      {
        onExecute: () => ({
          onExecuteDone: ({ result, setResult }) =>
            setResult({ data: { was: (result as any).data.user.name } }),
        }),
      },
      { data: { was: 'Ada' } },
    ],
    [
      'onExecuteDone changes the data in place',
      { onExecute: () => ({ onExecuteDone: ({ result }) => void ((result as any).data.user.name = 'Bo') }) },
      { data: { user: { id: '1', name: 'Bo' } } },
    ],
    [
      'onExecutionResult adds extensions',
      { onExecutionResult: ({ result }) => void ((result as any).extensions = { ms: 1 }) },
      { data: { user: { id: '1', name: 'Ada' } }, extensions: { ms: 1 } },
    ],
    [
      'onResultProcess sets another result',
      { onResultProcess: ({ result, setResult }) => setResult({ data: { was: (result as any).data } }) },
      { data: { was: { user: { id: '1', name: 'Ada' } } } },
    ],
  ])('%s', async (_name, plugin, expected) => {
    const { ask, events } = await serve([plugin])
    expect(await ask(USER)).toEqual(expected)
    expect(seen(events)).toEqual(['planned'])
  })

  it('a wrapped resolver is called', async () => {
    const wrap: Plugin = {
      onSchemaChange({ schema }) {
        const name = (schema.getType('User') as any)?.getFields().name
        const inner = name?.resolve
        if (name && !inner.wrapped)
          name.resolve = Object.assign((...args: unknown[]) => `${inner(...args)}!`, inner, { wrapped: true })
      },
    }
    const { ask, events } = await serve([wrap])
    expect(await ask(USER)).toEqual({ data: { user: { id: '1', name: 'Ada!' } } })
    expect(events).toMatchObject([{ outcome: 'unplanned', reason: 'User.name has a resolver' }])
  })

  it('plans: false and a transformer execute ordinarily', async () => {
    for (const options of [{ plans: false }, { transformer: ({ data }: any) => data }]) {
      const { ask, events } = await serve([], options)
      expect(await ask(USER)).toEqual({ data: { user: { id: '1', name: 'Ada' } } })
      expect(seen(events)).toEqual(['unplanned'])
    }
  })
})

describe('what a plan gives up', () => {
  it('a failed call is not made again, and its error is the ordinary one', async () => {
    const { ask, events, backend } = await serve()
    const answer = await ask('{ user(id: "none") { name } }')
    expect(answer).toMatchObject({
      data: { user: null },
      errors: [{ path: ['user'], extensions: { code: 'INTERNAL_SERVER_ERROR', status: 500 } }],
    })
    expect(seen(events)).toEqual(['planned', 'fell-back'])
    expect(backend.requests).toHaveLength(1)
  })

  it('a batched join is one call, also when ordinary execution takes over', async () => {
    const good = await serve(
      [],
      {},
      {
        json: [
          { id: '2', name: 'Bo' },
          { id: '1', name: 'Ada' },
        ],
      },
    )
    const query = '{ posts { userId author { name } } }'
    expect(await good.ask(query)).toEqual({
      data: {
        posts: [
          { userId: '1', author: { name: 'Ada' } },
          { userId: '2', author: { name: 'Bo' } },
          { userId: '1', author: { name: 'Ada' } },
        ],
      },
    })
    expect(good.backend.requests.map(({ rawUrl }) => rawUrl)).toEqual(['/posts', '/users?ids=1&ids=2'])
    expect(seen(good.events)).toEqual(['planned'])

    // A name that is an object is an error for one field, which ordinary execution words.
    const bad = await serve(
      [],
      {},
      {
        json: [
          { id: '1', name: {} },
          { id: '2', name: 'Bo' },
        ],
      },
    )
    const answer = await bad.ask(query)
    expect(answer.data.posts.map(({ author }: any) => author.name)).toEqual([null, 'Bo', null])
    expect(answer.errors).toHaveLength(2)
    expect(bad.backend.requests).toHaveLength(2)
    expect(seen(bad.events)).toEqual(['planned', 'fell-back'])
  })
})
