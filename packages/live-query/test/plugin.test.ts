import { GraphQLError } from 'graphql'
import { createSchema, type Plugin } from 'graphql-yoga'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { USERS, startLive, subscribe, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

interface Events {
  readonly headers: Headers
  next(): Promise<any>
  cancel(): Promise<void>
}

/** Reads `event: next` of an event stream, one by one. */
async function openEventStream(query: string, headers: Record<string, string> = {}): Promise<Events> {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const response = await fetch(setup.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query }),
    signal: abort.signal,
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    headers: response.headers,
    async next() {
      for (;;) {
        const event = /event: (\w+)\ndata:([^\n]*)\n\n/.exec(text)
        if (event) {
          text = text.slice(event.index + event[0].length)
          return event[1] === 'next' ? JSON.parse(event[2]!) : { event: event[1] }
        }
        const { value, done } = await reader.read()
        if (done) throw new Error('The stream ended')
        text += value
      }
    },
    cancel: () => reader.cancel().catch(() => {}),
  }
}

async function post(
  query: string,
  headers: Record<string, string> = {},
): Promise<{ response: Response; body: any }> {
  const response = await fetch(setup.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  })
  return { response, body: await response.json() }
}

describe('useLiveQuery over HTTP', () => {
  it.each<Record<string, string>>([
    {},
    { accept: '*/*' },
    { accept: 'application/json' },
    { accept: 'application/graphql-response+json' },
  ])('runs @live once and answers plain JSON: %o', async (headers) => {
    setup = await startLive()
    const { response, body } = await post('query @live { user(id: 1) { name } plain }', headers)
    expect(response.status).toBe(200)
    expect(body).toEqual({
      data: { user: { name: 'Ada' }, plain: 'plain' },
      extensions: { liveQuery: { is_live: false, reason: expect.stringContaining('event-stream') } },
    })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, executions: 0 })
  })

  it('streams over SSE when text/event-stream is asked for, and ends when the client leaves', async () => {
    setup = await startLive()
    const events = await openEventStream(USERS)
    // nginx passes on what comes.
    expect(events.headers.get('x-accel-buffering')).toBe('no')
    const first = await events.next()
    expect(Object.keys(first)).toEqual(['data', 'extensions'])
    expect(first).toMatchObject({
      data: { users: { totalCount: 2 } },
      extensions: { liveQuery: { is_initial: true, revision: 1 } },
    })
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(200)
    expect(await events.next()).toMatchObject({
      data: { users: { users: [{ name: 'Eve' }, {}] } },
      extensions: {
        liveQuery: { is_initial: false, revision: 2, changed_fields: ['users.users[0].name'] },
      },
    })
    expect(setup.plugin.store.stats().subscriptions).toBe(1)
    await events.cancel()
    await expect.poll(() => setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
  })

  it('leaves changed_fields out where changedFieldsDepth is 0', async () => {
    setup = await startLive({ plugin: { changedFieldsDepth: 0 } })
    const events = await openEventStream(USERS)
    await events.next()
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(200)
    const { data, extensions } = await events.next()
    expect(data.users.users[0].name).toBe('Eve')
    expect(extensions.liveQuery).toMatchObject({ revision: 2 })
    expect(extensions.liveQuery).not.toHaveProperty('changed_fields')
  })

  it('runs with the headers of the request, but for those of the body that came', async () => {
    setup = await startLive()
    const events = await openEventStream(USERS, { 'content-encoding': 'identity', 'x-tenant': 'acme' })
    await events.next()
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(200)
    await events.next()
    const runs = setup.world.contexts.map(({ request }) => (request as Request).headers)
    expect(runs.map((headers) => headers.get('x-tenant'))).toEqual(['acme', 'acme'])
    expect(runs.at(-1)?.get('content-encoding')).toBeNull()
  })

  it('ends the event stream when the ttl is over', async () => {
    setup = await startLive()
    const events = await openEventStream('query @live { expiring { name } }')
    await events.next()
    await setup.clock.advance(60_000)
    expect(await events.next()).toEqual({ event: 'complete' })
  })

  /** A live query's event stream behind its first result, whose next run is refused. */
  async function refusedRun(text: string, status: number): ReturnType<typeof openEventStream> {
    let isRefused = false
    const guard: Plugin = {
      onRequest({ endResponse, fetchAPI }) {
        if (isRefused) endResponse(new fetchAPI.Response(text, { status }))
      },
    }
    setup = await startLive({ before: [guard] })
    const events = await openEventStream(USERS)
    await events.next()
    isRefused = true
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(200)
    return events
  }

  it('ends the event stream, with one error, when a run is refused as nobody’s: its credentials will not come back', async () => {
    const events = await refusedRun('The token has expired.', 401)
    const { data, errors } = await events.next()
    expect([data, errors]).toEqual([
      undefined,
      [expect.objectContaining({ extensions: { code: 'UNAUTHENTICATED' } })],
    ])
    expect(await events.next()).toEqual({ event: 'complete' })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
  })

  it.each([
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [413, 'REQUEST_ENTITY_TOO_LARGE'],
    [418, 'BAD_REQUEST'],
    [429, 'RATE_LIMITED'],
    [500, 'INTERNAL_SERVER_ERROR'],
    [503, 'SERVICE_UNAVAILABLE'],
  ])('tells of a run that is refused with status %i the code %s', async (status, code) => {
    const events = await refusedRun('Refused.', status)
    expect((await events.next()).errors).toEqual([
      expect.objectContaining({ message: 'Refused.', extensions: { code } }),
    ])
  })

  it('ends the event stream, with its errors, when another plugin no longer takes the document for valid', async () => {
    let isRefused = false
    const guard: Plugin = {
      onValidate: () => {
        return ({ setResult }) => {
          if (isRefused) setResult([new GraphQLError('Not any more.')])
        }
      },
    }
    setup = await startLive({ before: [guard] })
    const events = await openEventStream(USERS)
    await events.next()
    // The run behind the first one goes the way of documents that came before.
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(200)
    expect((await events.next()).data.users.users[0].name).toBe('Eve')
    isRefused = true
    await setup.changeUser('1', { name: 'Mallory' })
    await setup.clock.advance(200)
    const { data, errors } = await events.next()
    expect([data, errors]).toEqual([undefined, [expect.objectContaining({ message: 'Not any more.' })]])
    expect(await events.next()).toEqual({ event: 'complete' })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
  })

  it('answers an event stream with the error when the field is not live-capable', async () => {
    setup = await startLive()
    const events = await openEventStream('query @live { plain }')
    expect(await events.next()).toMatchObject({
      errors: [{ extensions: { code: 'LIVE_QUERY_NOT_ENABLED' } }],
    })
  })

  it('answers an event stream with the error when a variable is missing', async () => {
    setup = await startLive()
    const events = await openEventStream('query ($id: ID!) @live { user(id: $id) { name } }')
    expect(await events.next()).toMatchObject({ errors: [{ message: expect.stringContaining('$id') }] })
    expect(await events.next()).toEqual({ event: 'complete' })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, executions: 0 })
  })

  it('shows @live in the schema', async () => {
    setup = await startLive()
    const { body } = await post('{ __schema { directives { name locations } } }')
    expect(body.data.__schema.directives).toContainEqual({ name: 'live', locations: ['QUERY'] })
  })
})

describe('a mutation', () => {
  it('is answered after the live queries know: the update needs no further event', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.next()
    const before = setup.plugin.store.stats().events
    await post('mutation { rename(id: "1", name: "Eve") { id } }')
    expect(setup.plugin.store.stats().events).toBe(before + 1)
    await setup.clock.advance(200)
    expect((await socket.nextJson()).payload.data.users.users[0].name).toBe('Eve')
  })
})

describe('who shares an execution', () => {
  it('the same query with the same credentials: one execution for all; other variables or credentials: their own', async () => {
    setup = await startLive()
    const query = 'query ($id: ID!) @live { user(id: $id) { name } }'
    const ask = async (
      headers: Record<string, string>,
      id: string,
      payload?: Record<string, unknown>,
    ): Promise<void> => {
      const socket = await setup.ready(payload, headers)
      socket.sendJson(subscribe('a', query, { id }))
      await socket.next()
    }
    for (let n = 0; n < 5; n++) await ask({ authorization: 'Bearer one' }, '1')
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 5, groups: 1 })
    await ask({ authorization: 'Bearer one' }, '2')
    await ask({ authorization: 'Bearer two' }, '1')
    await ask({ cookie: 'session=1' }, '1')
    await ask({}, '1', { tenant: 'x' })
    await ask({}, '1')
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 10, groups: 6 })
  })

  it('nobody, when contextKey says null', async () => {
    setup = await startLive({ plugin: { contextKey: () => null } })
    const socket = await setup.ready()
    for (const id of ['a', 'b']) socket.sendJson(subscribe(id, USERS))
    await socket.takeJson(2)
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 2, groups: 2, executions: 2 })
  })

  it('cache_control is public only where the result depends on no header', async () => {
    setup = await startLive({ plugin: { fields: { users: { volatility: 'Low' } } } })
    for (const [headers, shared] of [
      [{}, true],
      [{ authorization: 'Bearer one' }, false],
    ] as const) {
      const socket = await setup.ready(undefined, headers)
      socket.sendJson(subscribe('a', USERS))
      expect((await socket.nextJson()).payload.cache_control).toEqual({
        max_age: 300,
        public: shared,
        must_revalidate: true,
        etag: expect.stringMatching(/^"[\w-]{43}"$/),
      })
    }
  })
})

describe('the context of each execution', () => {
  it('is new each time, has liveQuery, the upgrade headers, the connection_init payload and a live signal', async () => {
    let contexts = 0
    setup = await startLive({
      yoga: { context: () => ({ number: ++contexts }) },
      ws: { context: () => ({ extra: 'yes' }) },
    })
    const socket = await setup.ready({ Authorization: 'Bearer init', 'x-user': 'root' }, { 'x-tenant': 't1' })
    socket.sendJson(subscribe('a', USERS))
    await socket.next()
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(200)
    await socket.next()
    expect(setup.world.contexts).toHaveLength(2)
    const [first, second] = setup.world.contexts
    expect(first!['number']).not.toBe(second!['number'])
    for (const context of [first!, second!]) {
      expect(context['connectionParams']).toEqual({ Authorization: 'Bearer init', 'x-user': 'root' })
      expect(context['request'].headers.get('authorization')).toBe('Bearer init')
      expect(context['request'].headers.get('x-tenant')).toBe('t1')
      expect(context['request'].headers.get('x-user')).toBeNull()
      expect(context['request'].headers.get('sec-websocket-key')).toBeNull()
      expect(context['request'].signal.aborted).toBe(false)
      expect(context['extra']).toBe('yes')
    }
    const runs = [first!['liveQuery'], second!['liveQuery']]
    const moment = expect.any(String)
    expect(runs).toEqual([
      { first: true, moment },
      { first: false, moment },
    ])
    // Something changed in between.
    expect(runs[0].moment).not.toBe(runs[1].moment)
  })

  it('revalidate that fails before a re-execution ends the subscription with an error, and is asked at most every N seconds', async () => {
    let valid = true
    let asked = 0
    setup = await startLive({
      plugin: {
        revalidateSeconds: 10,
        revalidate: (context) => {
          asked += 1
          return valid && (context['request'] as Request).headers.get('authorization') === 'Bearer one'
        },
      },
    })
    const socket = await setup.ready(undefined, { authorization: 'Bearer one' })
    socket.sendJson(subscribe('a', USERS))
    await socket.next()
    for (let n = 0; n < 22; n++) {
      await setup.changeUser('1', { name: `n${n}` })
      await setup.clock.advance(1000)
      await socket.next()
    }
    expect(asked).toBe(2)
    valid = false
    await setup.clock.advance(10_000)
    await setup.changeUser('1', { name: 'secret' })
    await setup.clock.advance(200)
    expect(await socket.nextJson()).toMatchObject({
      id: 'a',
      type: 'error',
      payload: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
    socket.sendJson({ type: 'ping' })
    expect(await socket.nextJson()).toEqual({ type: 'pong' })
  })

  it('a context that cannot be built is an error of the operation, masked', async () => {
    setup = await startLive({
      yoga: {
        context: () => {
          throw new Error('token=hunter2')
        },
      },
    })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    const message = await socket.nextJson()
    expect(message).toMatchObject({ id: 'a', type: 'error', payload: [{ message: 'Unexpected error.' }] })
    expect(JSON.stringify(message)).not.toContain('hunter2')
  })
})

describe('options of the fields', () => {
  it('come from extensions.liveQuery where the plugin says nothing', async () => {
    setup = await startLive({ plugin: { fields: {} } })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    expect(await socket.nextJson()).toMatchObject({ type: 'error' })
    const schema = setup.yoga.getEnveloped().schema
    schema.getQueryType().getFields().users.extensions.liveQuery = { enabled: true, triggers: ['Thing.*'] }
    socket.sendJson(subscribe('b', USERS))
    await socket.next()
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(1000)
    expect(setup.world.reads).toBe(1)
    setup.plugin.store.invalidate({ entityType: 'Thing', operation: 'polished' })
    await setup.clock.advance(1000)
    expect((await socket.nextJson()).payload.data.users.users[0].name).toBe('Eve')
  })

  it('defaults: { enabled: true } lets every query be live', async () => {
    setup = await startLive({ plugin: { defaults: { enabled: true } } })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', 'query @live { plain }'))
    expect(await socket.nextJson()).toMatchObject({ type: 'next', payload: { data: { plain: 'plain' } } })
    setup.plugin.store.invalidate({ entityType: 'Query', operation: 'plain' })
    await setup.clock.advance(200)
    expect(await socket.nextJson()).toMatchObject({ payload: { revision: 2 } })
  })

  it.each<[Record<string, unknown>, string]>([
    [
      { triggers: ['User'] },
      '"triggers" of Query.users: expected patterns like "User.update" or "User.*", got "User".',
    ],
    [
      { strategy: 'PUSH' },
      '"strategy" of Query.users: expected INVALIDATION, POLLING or HASH_DIFF, got "PUSH".',
    ],
    [
      { volatility: 'Often' },
      '"volatility" of Query.users: expected VeryHigh, High, Medium, Low or VeryLow, got "Often".',
    ],
  ])(
    'a wrong one stops the start with an error that names field, option and what was expected: %o',
    async (options, message) => {
      setup = await startLive()
      await expect(startLive({ plugin: { fields: { users: options } } })).rejects.toThrow(
        `Invalid live query option ${message}`,
      )
    },
  )

  it('a number out of its range stops the start', async () => {
    await expect(startLive({ plugin: { fields: { users: { throttleMs: -1 } } } })).rejects.toThrow(
      'live query: option fields.users.throttleMs is -1; expected a number of at least 0',
    )
  })
})

describe('filtering', () => {
  const typeDefs =
    'type Item { id: ID! status: String! } type Page { items: [Item!]! } type Query { items(status: String, first: Int): [Item!]! page(status: String): Page! }'
  const items = [
    { id: '1', status: 'ONLINE' },
    { id: '2', status: 'AWAY' },
  ]
  const schema = (): unknown =>
    createSchema({ typeDefs, resolvers: { Query: { items: () => items, page: () => ({ items }) } } })

  it.each([
    ['a list', '{ items(status: "AWAY") { id } }', { items: [{ id: '2' }] }],
    ['lists of an object', '{ page(status: "AWAY") { items { id } } }', { page: { items: [{ id: '2' }] } }],
    [
      'arguments that name no field do not',
      '{ items(first: 5) { id } }',
      { items: [{ id: '1' }, { id: '2' }] },
    ],
  ])('filter: gateway keeps only the entities that match the arguments: %s', async (_, query, data) => {
    setup = await startLive({
      yoga: { schema: schema() as never },
      plugin: { fields: { items: { filter: 'gateway' }, page: { filter: 'gateway' } } },
    })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', `query @live ${query}`))
    expect((await socket.nextJson()).payload.data).toEqual(data)
    expect((await post(query)).body.data).toEqual(data)
  })
})
