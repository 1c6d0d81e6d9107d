import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { AddressInfo } from 'node:net'
import { createNodeHandler } from '@vinyasa/node-handler'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { useResponseCache, type ResponseCacheOptions } from '@vinyasa/response-cache'

type Context = { readonly request: Request; readonly req: IncomingMessage & Record<string, any> } & Record<
  string,
  any
>
type Headers = Readonly<Record<string, string>>

interface Server {
  readonly context?: (initial: any) => object
  readonly plugins?: readonly Plugin[]
  readonly me?: (context: Context) => unknown
  readonly options?: ResponseCacheOptions
  /** What a framework does before Yoga. */
  readonly before?: (request: any) => void
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

type Listener = 'Yoga' | 'node-handler' | "the platform's Request"

/** The classes of Bun, Deno and Workers, where Yoga copies each request that has a body. */
const PLATFORM =
  'Request Response Headers URL URLSearchParams URLPattern ReadableStream TransformStream fetch FormData Blob File ' +
  'TextEncoder TextDecoder AbortController crypto btoa'
const platform = Object.fromEntries(
  PLATFORM.split(' ').map((name) => [name, globalThis[name as keyof typeof globalThis]]),
)

async function serve(server: Server, listener: Listener = 'Yoga') {
  const warnings: string[] = []
  const yoga = createYoga<any>({
    logging: false,
    ...(listener === "the platform's Request" && { fetchAPI: platform as never }),
    ...(server.context && { context: server.context }),
    plugins: [
      ...(server.plugins ?? []),
      useResponseCache({
        defaultTtlMs: 10_000,
        onEvent: (event) => void (event.type === 'warning' && warnings.push(event.warning.message)),
        ...server.options,
      }),
    ],
    schema: createSchema<any>({
      typeDefs: 'type Query { me: String same: String }',
      resolvers: {
        Query: {
          me: (_root, _args, context) => server.me?.(context) ?? context.user ?? 'nobody',
          same: () => 'same',
        },
      },
    }),
  })
  const onPlatform = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = req
    const given = new Request(new URL(url, 'http://localhost'), {
      method,
      headers: Object.entries(req.headers) as [string, string][],
      ...(method === 'POST' && { body: Readable.toWeb(req) as never, duplex: 'half' }),
    })
    const response = await yoga.fetch(given, { req })
    res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
  }
  const listeners = {
    Yoga: yoga,
    'node-handler': createNodeHandler(yoga),
    "the platform's Request": onPlatform,
  }
  const handle = listeners[listener]
  const http = createServer((request, response) => {
    server.before?.(request)
    void handle(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  closing.push(() => void (http.close(), http.closeAllConnections()))
  const { port } = http.address() as AddressInfo
  const ask = (method: 'GET' | 'POST', headers: Headers = {}, query = '{ me }', localAddress = '127.0.0.1') =>
    new Promise<{ body: string; cache: unknown; control: unknown }>((resolve, reject) => {
      const path = `/graphql${method === 'GET' ? `?query=${encodeURIComponent(query)}` : ''}`
      const given = { ...headers, ...(method === 'POST' && { 'content-type': 'application/json' }) }
      const sent = send(
        { port, host: '127.0.0.1', localAddress, method, path, headers: given },
        async (response) => {
          let body = ''
          for await (const chunk of response) body += String(chunk)
          resolve({ body, cache: response.headers['x-cache'], control: response.headers['cache-control'] })
        },
      )
      sent.on('error', reject)
      sent.end(method === 'POST' ? JSON.stringify({ query }) : undefined)
    })
  return { ask, warnings }
}

const ofHeader = (name: string) => ({ alice: { [name]: 'alice' }, bob: { [name]: 'bob' } })

/** Contexts of ordinary servers: what tells alice from bob, and how the code reads it. */
const servers: Record<string, Server & { alice?: Headers; bob?: Headers; names?: string }> = {
  'an auth proxy header in the context factory': {
    ...ofHeader('x-user-id'),
    context: ({ request }) => ({ user: request.headers.get('x-user-id') }),
    names: 'x-user-id',
  },
  'an auth proxy header in an async context factory': {
    ...ofHeader('x-forwarded-user'),
    context: async ({ request }) => {
      await Promise.resolve()
      return { user: request.headers.get('X-Forwarded-User') }
    },
    names: 'x-forwarded-user',
  },
  'a tenant header in a resolver': {
    ...ofHeader('x-tenant'),
    me: ({ request }) => request.headers.get('x-tenant'),
    names: 'x-tenant',
  },
  'a tenant header in a resolver after a wait': {
    ...ofHeader('x-tenant'),
    me: async ({ request }) => {
      await Promise.resolve()
      return request.headers.get('x-tenant')
    },
    names: 'x-tenant',
  },
  'an API key in a plugin before the cache': {
    ...ofHeader('x-api-key'),
    plugins: [
      {
        onRequest: ({ request, serverContext }) =>
          void Object.assign(serverContext as object, { user: request.headers.get('x-api-key') }),
      },
    ],
    names: 'x-api-key',
  },
  'a header in onContextBuilding': {
    ...ofHeader('x-user'),
    plugins: [
      {
        onContextBuilding: ({ context, extendContext }: any) =>
          extendContext({ user: context.request.headers.get('x-user') }),
      },
    ],
    names: 'x-user',
  },
  'a header in onParams': {
    ...ofHeader('x-user'),
    plugins: [
      { onParams: ({ request, context }: any) => void (context.user = request.headers.get('x-user')) },
    ],
    names: 'x-user',
  },
  'has of a header': {
    alice: { 'x-admin': '1' },
    bob: {},
    me: ({ request }) => (request.headers.has('x-admin') ? 'alice' : 'bob'),
    names: 'x-admin',
  },
  'forEach of headers': {
    ...ofHeader('x-user'),
    me({ request }) {
      let user: string | undefined
      request.headers.forEach((value, name) => void (name === 'x-user' && (user = value)))
      return user
    },
    names: 'all request headers',
  },
  'iteration of headers': {
    ...ofHeader('x-user'),
    context: ({ request }) => ({ user: Object.fromEntries(request.headers)['x-user'] }),
    names: 'all request headers',
  },
  'entries of headers': {
    ...ofHeader('x-user'),
    me: ({ request }) => [...request.headers.entries()].find(([name]) => name === 'x-user')?.[1],
    names: 'all request headers',
  },
  'a copy of headers': {
    ...ofHeader('x-user'),
    context: ({ request }) => ({ user: new Headers(request.headers).get('x-user') }),
    names: 'all request headers',
  },
  'a header of the Node request': {
    ...ofHeader('x-user-id'),
    context: ({ req }) => ({ user: req.headers['x-user-id'] }),
    names: 'x-user-id',
  },
  'all headers of the Node request': {
    ...ofHeader('x-user-id'),
    context: ({ req }) => ({ user: { ...req.headers }['x-user-id'] }),
    names: 'all request headers',
  },
  'raw headers of the Node request': {
    ...ofHeader('x-user-id'),
    me: ({ req }) => req.rawHeaders[req.rawHeaders.indexOf('x-user-id') + 1],
    names: 'all request headers',
  },
  'distinct headers of the Node request': {
    ...ofHeader('x-user-id'),
    me: ({ req }) => req.headersDistinct['x-user-id']?.[0],
    names: 'all request headers',
  },
  'a user that middleware put on the request': {
    ...ofHeader('x-api-key'),
    before: (request) => void (request.user = { name: request.headers['x-api-key'] }),
    context: ({ req }) => ({ user: req.user.name }),
    names: 'req.user',
  },
  'a session that middleware put on the request': {
    ...ofHeader('x-session'),
    before: (request) => void (request.session = { user: request.headers['x-session'] }),
    me: ({ req }) => req['session'].user,
    names: 'req.session',
  },
  'a cookie session': {
    alice: { cookie: 'sid=alice' },
    bob: { cookie: 'sid=bob' },
    context: ({ request }) => ({ user: /sid=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1] }),
  },
  'a bearer token, by default part of the key': {
    alice: { authorization: 'alice' },
    bob: { authorization: 'bob' },
    context: ({ request }) => ({ user: request.headers.get('authorization') }),
  },
  'the language': {
    ...ofHeader('accept-language'),
    me: ({ request }) => request.headers.get('accept-language'),
    names: 'accept-language',
  },
  'the host': { ...ofHeader('host'), me: ({ request }) => request.headers.get('host'), names: 'host' },
}

describe.each(['Yoga', 'node-handler', "the platform's Request"] as const)(
  'on %s, answers whose code reads',
  (listener) => {
    describe.each(Object.entries(servers))('%s', (_title, { alice = {}, bob = {}, names, ...server }) => {
      it.each(['GET', 'POST'] as const)('are shared with nobody: %s', async (method) => {
        const { ask, warnings } = await serve(server, listener)
        for (const [user, headers] of [
          ...Object.entries({ alice, bob }),
          ...Object.entries({ bob, alice }),
        ]) {
          const { body, control } = await ask(method, headers)
          expect(JSON.parse(body)).toEqual({ data: { me: user } })
          expect(String(control)).not.toMatch(/public/)
        }
        const isHeader = names !== undefined && /^[a-z-]+$/.test(names)
        const parts = names === undefined ? [] : [names, 'session to a function']
        if (isHeader) parts.push(`varyHeaders: ['Authorization', '${names}']`)
        expect(warnings).toHaveLength(names === undefined ? 0 : 1)
        expect(parts.filter((part) => !warnings[0]?.includes(part))).toEqual([])
      })
    })

    it('the address of the client are shared with nobody', async () => {
      const { ask, warnings } = await serve({ me: ({ req }) => req.socket.remoteAddress }, listener)
      for (const address of ['127.0.0.1', '127.0.0.2', '127.0.0.1'])
        expect((await ask('POST', {}, '{ me }', address)).body).toBe(`{"data":{"me":"${address}"}}`)
      expect(warnings).toEqual([expect.stringContaining('req.socket.remoteAddress')])
    })

    it('nothing but the transport are cached, and fields that read nothing too', async () => {
      const { ask, warnings } = await serve(
        {
          plugins: [{ onRequest: ({ request }) => void request.headers.get('user-agent') }],
          me: ({ request, req }) => {
            for (const name of ['accept', 'content-type', 'origin', 'user-agent', 'traceparent', 'referer'])
              void [request.headers.get(name), req.headers[name]]
            return 'me'
          },
        },
        listener,
      )
      for (const method of ['GET', 'POST'] as const) {
        await ask(method)
        expect((await ask(method)).cache).toBe('HIT')
      }
      expect(warnings).toEqual([])
    })

    it('a header in the parser of a plugin are shared with nobody', async () => {
      const users = new WeakMap<object, string | null>()
      const parser: Plugin = {
        onRequestParse: ({ request: original, requestParser, setRequestParser }) =>
          setRequestParser((request) => {
            users.set(original, request.headers.get('x-user'))
            return requestParser?.(request) as never
          }),
      }
      const { ask } = await serve({ plugins: [parser], me: ({ request }) => users.get(request) }, listener)
      for (const user of ['alice', 'bob', 'alice'])
        expect((await ask('POST', { 'x-user': user })).body).toBe(`{"data":{"me":"${user}"}}`)
    })

    it('one field that reads a header leaves others in the cache', async () => {
      const { ask } = await serve({ me: ({ request }) => request.headers.get('x-user') }, listener)
      for (const cache of ['MISS', 'MISS']) expect((await ask('POST')).cache).toBe(cache)
      for (const cache of ['MISS', 'HIT']) expect((await ask('POST', {}, '{ same }')).cache).toBe(cache)
    })

    it.each([
      [{ varyHeaders: ['X-User'] }, 'alice', 'HIT'],
      [{ session: ({ user }: any) => user }, 'alice', 'HIT'],
      [{ ignoredReads: ['X-User'] }, 'alice', 'HIT'],
      [{ ignoredReads: ['*'] }, 'alice', 'HIT'],
      [{ ignoredReads: ['x-other'] }, 'alice', 'BYPASS'],
    ] satisfies [ResponseCacheOptions, string, string][])(
      'are cached where %j says so',
      async (options, user, cache) => {
        const context = ({ request }: any) => ({ user: request.headers.get('x-user') })
        const { ask } = await serve({ context, options }, listener)
        await ask('POST', { 'x-user': user })
        expect((await ask('POST', { 'x-user': user })).cache).toBe(cache)
      },
    )
  },
)

/** What a plugin has read of each request. */
const users = new WeakMap<object, string | null>()
function note(request: Request): true {
  users.set(request, request.headers.get('x-user'))
  return true
}

class OnRequest {
  onRequest({ request }: any) {
    note(request)
  }
}

it.each<[string, object]>([
  ['a class', new OnRequest()],
  ['a behaviour that receives requests', { behaviour: { receive: note } }],
  ['a behaviour that checks requests', { behaviour: { checkRequest: note } }],
  [
    'a behaviour that admits operations',
    { behaviour: { admit: (_params: object, request: Request) => void note(request) } },
  ],
])('on node-handler, answers whose plugin reads a header are shared with nobody: %s', async (_, plugin) => {
  const me = ({ request }: any): string => users.get(request) ?? 'nobody'
  const { ask } = await serve({ plugins: [plugin], me }, 'node-handler')
  await ask('POST', {}, '{ same }')
  const seen: string[] = []
  for (const user of ['alice', 'bob', 'alice', 'bob']) seen.push((await ask('POST', { 'x-user': user })).body)
  const told = seen.map((body) => JSON.parse(body).data.me)
  expect(told.slice(1)).toEqual(['bob', 'alice', 'bob'])
})
