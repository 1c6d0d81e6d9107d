import { createHash, createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useFilterAllowedOperations } from '@envelop/filter-operation-type'
import { useAPQ } from '@graphql-yoga/plugin-apq'
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { createInlineSigningKeyProvider, useJWT } from '@graphql-yoga/plugin-jwt'
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { useLiveQuery } from '@vinyasa/live-query'
import { attachLiveServer } from '@vinyasa/live-query/ws'
import { useResponseCache } from '@vinyasa/response-cache'
import { connectRawWebSocket, type RawWebSocket } from '@vinyasa/test-kit'
import { OperationTypeNode } from 'graphql'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { afterEach, expect, it, vi } from 'vitest'

const LIVE = 'query @live { me }'
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

interface Context {
  readonly jwt?: { readonly payload: { readonly sub: string } }
  readonly tenant?: string
}

/** A server whose `me` says who asks: by token, by what `onRequest` set, or nobody. */
async function start(...plugins: Plugin[]) {
  const live = useLiveQuery({ defaults: { enabled: true, throttleMs: 0 } })
  const schema = createSchema<Context>({
    typeDefs: 'type Query { me: String } type Mutation { boom: String }',
    resolvers: {
      Query: { me: (_, __, { jwt, tenant }) => jwt?.payload.sub ?? tenant ?? 'nobody' },
      Mutation: { boom: () => 'boom' },
    },
  })
  const yoga = createYoga({ schema, logging: false, plugins: [...plugins, live] })
  const server = createServer(yoga)
  const sockets = attachLiveServer(server, { plugin: live })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(async () => {
    await sockets.close()
    live.close()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    http: `http://127.0.0.1:${port}/graphql`,
    change: () => live.store.invalidate({ entityType: 'Query', operation: 'me' }),
    async open(headers: Record<string, string> = {}, payload?: object): Promise<RawWebSocket> {
      const socket = await connectRawWebSocket(`ws://127.0.0.1:${port}/graphql/live`, { headers })
      cleanups.push(() => socket.terminate())
      socket.sendJson({ type: 'connection_init', payload })
      await socket.nextJson()
      return socket
    },
  }
}

let nextId = 1
async function ask(socket: RawWebSocket, payload: object): Promise<{ type: string; payload: any }> {
  const id = String(nextId++)
  socket.sendJson({ type: 'subscribe', id, payload })
  for (;;) {
    const message = await socket.nextJson()
    if (message.id === id) return message
  }
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
function token(payload: object): string {
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(payload)}`
  return `Bearer ${signed}.${createHmac('sha256', 'key').update(signed).digest('base64url')}`
}
const jwt = (): Plugin =>
  useJWT({
    signingKeyProviders: [createInlineSigningKeyProvider('key')],
    tokenVerification: { algorithms: ['HS256'] },
    reject: { missingToken: true, invalidToken: true },
    extendContext: 'jwt',
  })

it('persisted operations: a socket runs what is registered, by its id, and nothing else', async () => {
  const { open, change } = await start(
    usePersistedOperations({ getPersistedOperation: (id) => (id === 'known' ? LIVE : null) }),
  )
  const socket = await open()
  for (const query of ['{ me }', LIVE, '{ __schema { types { name } } }', 'mutation { boom }']) {
    expect(await ask(socket, { query })).toMatchObject({ type: 'error' })
  }
  const byId = (sha256Hash: string): object => ({
    query: '',
    extensions: { persistedQuery: { version: 1, sha256Hash } },
  })
  expect(await ask(socket, byId('other'))).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'PERSISTED_QUERY_NOT_IN_LIST' } }],
  })
  expect(await ask(socket, byId('known'))).toMatchObject({
    type: 'next',
    payload: { data: { me: 'nobody' } },
  })
  change()
  expect(await socket.nextJson()).toMatchObject({ payload: { revision: 2, data: { me: 'nobody' } } })
})

it('automatic persisted queries: a socket is asked for the text, then served by the hash', async () => {
  const { open } = await start(useAPQ())
  const socket = await open()
  const sha256Hash = createHash('sha256').update(LIVE).digest('hex')
  const extensions = { persistedQuery: { version: 1, sha256Hash } }
  expect(await ask(socket, { query: '', extensions })).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
  })
  expect(await ask(socket, { query: LIVE, extensions })).toMatchObject({ type: 'next' })
  expect(await ask(socket, { query: '', extensions })).toMatchObject({
    type: 'next',
    payload: { data: { me: 'nobody' } },
  })
})

it('JWT: a socket without a token is refused; who has one is known in every run until it expires', async () => {
  const { open, change, http } = await start(jwt())
  expect(await ask(await open(), { query: LIVE })).toMatchObject({ type: 'error' })
  const now = Math.floor(Date.now() / 1000)
  const authorization = token({ sub: 'ada', exp: now + 60 })
  const events = await fetch(http, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization },
    body: JSON.stringify({ query: LIVE }),
  })
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
  cleanups.push(() => reader?.cancel().catch(() => {}))
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true }
      if (done || value?.includes('data:')) return value
    }
  }
  expect(await next()).toContain('"me":"ada"')
  const byHeader = await open({ authorization })
  const byInit = await open({}, { authorization })
  for (const socket of [byHeader, byInit]) {
    expect(await ask(socket, { query: LIVE })).toMatchObject({
      type: 'next',
      payload: { data: { me: 'ada' } },
    })
  }
  change()
  expect(await next()).toContain('"me":"ada"')
  for (const socket of [byHeader, byInit]) {
    expect(await socket.nextJson()).toMatchObject({ payload: { revision: 2, data: { me: 'ada' } } })
  }
  vi.useFakeTimers({ toFake: ['Date'], now: (now + 3600) * 1000 })
  change()
  expect(await next()).not.toContain('ada')
  for (const socket of [byHeader, byInit])
    expect(JSON.stringify(await socket.nextJson())).not.toContain('ada')
})

it('@envelop/filter-operation-type: a socket may not mutate where only queries are allowed', async () => {
  const { open } = await start(useFilterAllowedOperations([OperationTypeNode.QUERY]) as Plugin)
  const socket = await open()
  expect(await ask(socket, { query: 'mutation { boom }' })).toMatchObject({ type: 'error' })
  expect(await ask(socket, { query: LIVE })).toMatchObject({
    type: 'next',
    payload: { data: { me: 'nobody' } },
  })
})

it('CSRF prevention: an operation of a socket is a POST of JSON, which no form can send', async () => {
  const { open } = await start(useCSRFPrevention())
  expect(await ask(await open(), { query: '{ me }' })).toMatchObject({ type: 'next' })
})

it('what onRequest knows of the caller is known in every run, over SSE and sockets, and shared with no other', async () => {
  const { open, change } = await start({
    onRequest({ request, serverContext }) {
      Object.assign(serverContext, { tenant: request.headers.get('authorization') ?? undefined })
    },
  })
  const sockets = [await open({ authorization: 'ada' }), await open({ authorization: 'eve' })]
  for (const [index, name] of ['ada', 'eve'].entries()) {
    expect(await ask(sockets[index]!, { query: LIVE })).toMatchObject({ payload: { data: { me: name } } })
  }
  change()
  for (const [index, name] of ['ada', 'eve'].entries()) {
    expect(await sockets[index]!.nextJson()).toMatchObject({ payload: { revision: 2, data: { me: name } } })
  }
})

it('a run leaves the texts that were parsed as they are: the next who asks is live too', async () => {
  const { open, change } = await start()
  const socket = await open()
  await ask(socket, { query: LIVE })
  change()
  await socket.nextJson()
  expect(await ask(socket, { query: LIVE })).toMatchObject({ payload: { is_initial: true } })
})

it('a response cache knows nothing of sockets: neither answers nor keeps what was asked there', async () => {
  const { open, http } = await start(
    {
      onContextBuilding({ context }) {
        const { connectionParams } = context as { connectionParams?: { user?: string } }
        Object.assign(context, { tenant: connectionParams?.user })
      },
    },
    useResponseCache(),
  )
  const post = async (): Promise<string> =>
    (
      await fetch(http, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ me }' }),
      })
    ).text()
  expect(await post()).toContain('nobody')
  expect(await ask(await open({}, { user: 'ada' }), { query: '{ me }' })).toMatchObject({
    payload: { data: { me: 'ada' } },
  })
  expect(await ask(await open({}, { user: 'eve' }), { query: '{ me }' })).toMatchObject({
    payload: { data: { me: 'eve' } },
  })
  expect(await post()).toContain('nobody')
})
