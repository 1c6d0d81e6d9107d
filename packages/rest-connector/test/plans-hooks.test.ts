import { envelop, useEngine, useErrorHandler, useMaskedErrors } from '@envelop/core'
import { createDisposables, startRestBackend, type RestAnswer } from '@vinyasa/test-kit'
import { execute, GraphQLError, parse, subscribe, validate, type ExecutionArgs } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, field, useRestConnector } from '../src/index.ts'
import type { PlanEvent } from '@vinyasa/source-kit'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const User = { typeName: 'User', fields: { id: field.id.required, name: field.string } }
const USER = '{ user(id: "1") { id name } }'

async function serve(
  plugins: readonly Plugin[] = [],
  options: object = {},
  users: RestAnswer = { json: [] },
  before: readonly Plugin[] = [],
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
  const yoga = createYoga({
    plugins: [...before, useRestConnector(connector) as Plugin, ...plugins],
    logging: false,
    batching: true,
  })
  const post = async (body: unknown, accept = 'application/json'): Promise<string> => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify(body),
    })
    return response.text()
  }
  const ask = async (query: string): Promise<any> => JSON.parse(await post({ query }))
  return { backend, connector, events, ask, post }
}

const seen = (events: readonly PlanEvent[]): string[] => events.map(({ outcome }) => outcome)

const OTHER = parse('{ other: user(id: "1") { id } }')

/** Each is a plugin as people write them, and what a client then sees. */
const PLUGINS: readonly (readonly [string, () => Plugin, object])[] = [
  [
    'onExecuteDone that sets another result',
    () => ({
      onExecute: () => ({
        onExecuteDone: ({ result, setResult }) =>
          setResult({ data: { was: (result as any).data.user.name } }),
      }),
    }),
    { data: { was: 'Ada' } },
  ],
  [
    'onExecuteDone that changes the data in place',
    () => ({
      onExecute: () => ({ onExecuteDone: ({ result }) => void ((result as any).data.user.name = 'Bo') }),
    }),
    { data: { user: { id: '1', name: 'Bo' } } },
  ],
  [
    'onExecuteDone that puts other data in place',
    () => ({
      onExecute: () => ({ onExecuteDone: ({ result }) => void ((result as any).data = { user: null }) }),
    }),
    { data: { user: null } },
  ],
  [
    'onExecuteDone that adds an error',
    () => ({
      onExecute: () => ({
        onExecuteDone: ({ result }) => void ((result as any).errors = [new GraphQLError('late')]),
      }),
    }),
    { data: { user: { id: '1', name: 'Ada' } }, errors: [{ message: 'late' }] },
  ],
  [
    'onExecutionResult that adds extensions',
    () => ({ onExecutionResult: ({ result }) => void ((result as any).extensions = { ms: 1 }) }),
    { data: { user: { id: '1', name: 'Ada' } }, extensions: { ms: 1 } },
  ],
  [
    'onResultProcess that sets another result',
    () => ({
      onResultProcess: ({ result, setResult }) => setResult({ data: { was: (result as any).data } }),
    }),
    { data: { was: { user: { id: '1', name: 'Ada' } } } },
  ],
  [
    'setResultAndStopExecution',
    () => ({ onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ data: { no: 1 } }) }),
    { data: { no: 1 } },
  ],
  [
    'an execute of its own around the one it found',
    () => ({
      onExecute: ({ executeFn, setExecuteFn }) =>
        setExecuteFn(async (args: ExecutionArgs) => ({
          data: { wrapped: ((await executeFn(args)) as any).data.user.name },
        })),
    }),
    { data: { wrapped: 'Ada' } },
  ],
  [
    'an execute of its own that gives another document',
    () => ({
      onExecute: ({ executeFn, setExecuteFn }) =>
        setExecuteFn((args: ExecutionArgs) => executeFn({ ...args, document: OTHER })),
    }),
    { data: { other: { id: '1' } } },
  ],
  [
    'another document in the arguments',
    () => ({ onExecute: ({ args }) => void (args.document = OTHER) }),
    { data: { other: { id: '1' } } },
  ],
]

/** Those that leave no execution to the source when they come first. */
const EXECUTES = new Set([
  'setResultAndStopExecution',
  'an execute of its own around the one it found',
  'an execute of its own that gives another document',
])

describe('hooks with plans', () => {
  describe.each(['before', 'after'] as const)('%s the connector', (side) => {
    it.each(PLUGINS)('%s', async (name, plugin, expected) => {
      const { ask, events, backend } = await (side === 'before'
        ? serve([], {}, {}, [plugin()])
        : serve([plugin()]))
      for (const round of [1, 2]) expect([round, await ask(USER)]).toEqual([round, expected])
      const isStopped = name === 'setResultAndStopExecution'
      expect(backend.requests).toHaveLength(isStopped ? 0 : 2)
      const plans = side === 'before' && EXECUTES.has(name) ? [] : ['planned']
      // The document that was asked for is looked at too.
      expect(new Set(seen(events))).toEqual(new Set(plans))
    })
  })

  it('errors are handled and masked', async () => {
    const handled: string[] = []
    const { ask } = await serve(
      [useMaskedErrors({ maskError: () => new GraphQLError('masked') }) as Plugin],
      {},
      {},
      [useErrorHandler(({ errors }) => void handled.push(...errors.map(({ message }) => message))) as Plugin],
    )
    expect(await ask('{ user(id: "none") { id } }')).toEqual({
      data: { user: null },
      errors: [{ message: 'masked' }],
    })
    expect(await ask(USER)).toEqual({ data: { user: { id: '1', name: 'Ada' } } })
    expect(handled).toEqual(['The upstream responded with status 500.'])
  })

  it('the result is text as long as nobody reads the data, an object afterwards', async () => {
    const looked: unknown[] = []
    const { ask } = await serve([
      {
        onResultProcess({ result }) {
          const planned = result as any
          looked.push(planned.stringify(planned), planned.data, planned.stringify(planned))
        },
      },
    ])
    await ask(USER)
    const json = '{"data":{"user":{"id":"1","name":"Ada"}}}'
    expect(looked).toEqual([json, { user: { id: '1', name: 'Ada' } }, json])
  })

  it('plans answer operations of a batch and over an event stream', async () => {
    const { post, events } = await serve()
    const answer = '{"data":{"user":{"id":"1","name":"Ada"}}}'
    expect(await post([{ query: USER }, { query: USER }])).toBe(`[${answer},${answer}]`)
    expect(await post({ query: USER }, 'text/event-stream')).toContain(`data: ${answer}`)
    expect(seen(events)).toEqual(['planned'])
  })

  it('Envelop alone, with graphql itself, has plans', async () => {
    const { connector, events } = await serve()
    const getEnveloped = envelop({
      plugins: [useEngine({ parse, validate, execute, subscribe }), useRestConnector(connector)],
    })
    const { schema, execute: run, contextFactory } = getEnveloped({})
    const result = await run({ schema, document: parse(USER), contextValue: await contextFactory() })
    expect(JSON.stringify(result)).toBe('{"data":{"user":{"id":"1","name":"Ada"}}}')
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
