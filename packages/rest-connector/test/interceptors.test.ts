import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { createDisposables, createFakeClock, startRestBackend, type RestHandler } from '@vinyasa/test-kit'
import { GraphQLError } from 'graphql'
import { afterEach, describe, expect, it } from 'vitest'
import {
  apiKey,
  bearer,
  createRestConnector,
  oauth2ClientCredentials,
  type RestConnectorOptions,
} from '../src/index.ts'
import type { CallInfo } from '../src/interceptors/interceptor.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

async function serve(
  options: Partial<RestConnectorOptions>,
  handler: RestHandler = ({ headers, rawUrl }) => ({ json: { headers, rawUrl } }),
) {
  const backend = cleanup.use(await startRestBackend(handler))
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: `${backend.url}/api`,
      endpoints: [
        { name: 'get', path: '/x' },
        { name: 'login', path: '/login', method: 'POST' },
      ],
      retry: { initialBackoffMs: 1 },
      ...options,
    }),
  )
  return { backend, connector, get: (): Promise<any> => connector.execute('get') }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
}

describe('interceptors', () => {
  it('run anew for every attempt, so that a token is fresh', async () => {
    const seen: CallInfo[] = []
    let token = 0
    const { connector, backend } = await serve(
      {
        interceptors: [(_, info) => void seen.push(info), bearer(() => `t${++token}`)],
      },
      ({ headers }) => (headers.authorization === 'Bearer t3' ? { json: 'ok' } : { status: 503 }),
    )
    const context = { me: 1 }
    expect(await connector.execute('get', {}, { context })).toBe('ok')
    expect(backend.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer t1',
      'Bearer t2',
      'Bearer t3',
    ])
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(seen[0]).toMatchObject({ connector: 'c', endpoint: 'get', args: {}, context })
  })

  it.each([
    ['get', 'that hears of it', (_: unknown, { signal }: CallInfo) => aborted(signal)],
    ['login', 'that hears of it', (_: unknown, { signal }: CallInfo) => aborted(signal)],
    ['get', 'that does not', () => new Promise<never>(() => {})],
    ['login', 'that does not', () => new Promise<never>(() => {})],
  ])('%s: time is up for one %s', async (endpoint, _, interceptor) => {
    const clock = createFakeClock()
    const { connector } = await serve({ clock, noRetry: true, timeoutMs: 1000, interceptors: [interceptor] })
    const call = connector.execute(endpoint)
    await Promise.all([
      expect(call).rejects.toMatchObject({
        message: 'The upstream did not respond within 1000 ms.',
        extensions: { code: 'TIMEOUT' },
      }),
      clock.advance(1000),
    ])
    expect(clock.pending()).toBe(0)
  })

  it('may change method and body', async () => {
    const { connector } = await serve(
      {
        interceptors: [
          (request) => {
            request.method = 'PUT'
            request.body = 'changed'
            request.headers.set('content-type', 'text/plain')
          },
        ],
      },
      ({ method, body }) => ({ json: `${method} ${String(body)}` }),
    )
    expect(await connector.execute('login', { a: 1 })).toBe('PUT changed')
  })

  it('may fail the request with an error that the client gets to see', async () => {
    const refuse = (): never => {
      throw new GraphQLError('Log in first.', { extensions: { code: 'UNAUTHENTICATED' } })
    }
    const { get, backend } = await serve({ interceptors: [refuse] })
    await expect(get()).rejects.toMatchObject({
      message: 'Log in first.',
      extensions: { code: 'UNAUTHENTICATED', connector: 'c', endpoint: 'get' },
    })
    expect(backend.requests).toHaveLength(0)
  })

  it.each(['/', '/apix', '/api/../admin', '/api/%2e%2e/admin'])(
    'cannot lead a request out of the base path: %s',
    async (pathname) => {
      const { get, backend } = await serve({ interceptors: [({ url }) => void (url.pathname = pathname)] })
      await expect(get()).rejects.toMatchObject({
        message: 'The request to the upstream was not sent, because its URL is outside the base URL.',
        cause: {
          message: expect.stringContaining(
            'changed the request to a URL outside the base URL; set allowOriginChange',
          ),
        },
      })
      expect(backend.requests).toHaveLength(0)
    },
  )

  it('cannot lead a request to another origin, unless allowOriginChange is set', async () => {
    const other = cleanup.use(await startRestBackend(() => ({ json: 'other' })))
    const leave = [({ url }: { url: URL }) => void (url.port = String(other.port))]
    const { get } = await serve({ interceptors: leave })
    await expect(get()).rejects.toThrow(
      'The request to the upstream was not sent, because its URL is outside',
    )
    expect(other.requests).toHaveLength(0)
    const allowed = await serve({ interceptors: leave, allowOriginChange: true })
    expect(await allowed.get()).toBe('other')
    expect(allowed.backend.requests).toHaveLength(0)
  })

  it('take a secret from a promise of any library', async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- as the promises of other libraries are
    const later = { then: (resolve: (secret: string) => void) => resolve('t') } as unknown as Promise<string>
    for (const [interceptor, header] of [
      [bearer(() => later), 'authorization'],
      [apiKey(() => later), 'x-api-key'],
    ] as const) {
      const { get } = await serve({ interceptors: [interceptor] })
      expect((await get()).headers[header]).toMatch(/^(Bearer )?t$/)
    }
  })

  it.each(['\nx: y', '\u007f', '\u0000', '€'])(
    'a header value that cannot be sent never shows up in the error: %j',
    async (end) => {
      const key = apiKey(`c4n4ry${end}x`)
      for (const interceptors of [[key], [key, () => {}]]) {
        const { get } = await serve({ interceptors })
        const error: unknown = await get().catch((reason: unknown) => reason)
        expect(error).toMatchObject({ message: 'The request to the upstream could not be prepared.' })
        expect(JSON.stringify(error)).not.toContain('c4n4ry')
      }
    },
  )
})

describe('oauth2ClientCredentials', () => {
  async function tokens(answer: RestHandler) {
    const issuer = cleanup.use(await startRestBackend(answer))
    const clock = createFakeClock()
    const interceptor = oauth2ClientCredentials({
      tokenUrl: `${issuer.url}/token`,
      clientId: 'id:1',
      clientSecret: { env: 'SECRET' },
      env: { SECRET: 's/e' },
      scope: 'read',
      clock,
    })
    return { issuer, clock, ...(await serve({ interceptors: [interceptor], maxConnections: 20 })) }
  }

  it('asks once for all who wait, and again when the token is about to expire', async () => {
    let issued = 0
    const { issuer, clock, get, connector } = await tokens(() => ({
      json: { access_token: `t${++issued}`, expires_in: 100 },
    }))
    await Promise.all([get(), connector.execute('login'), connector.execute('login')])
    expect(issuer.requests).toHaveLength(1)
    expect(issuer.requests[0]?.headers.authorization).toBe(`Basic ${btoa('id%3A1:s%2Fe')}`)
    expect(String(issuer.requests[0]?.body)).toBe('grant_type=client_credentials&scope=read')
    await clock.advance(69_000)
    expect((await get()).headers.authorization).toBe('Bearer t1')
    await clock.advance(1_000)
    expect((await get()).headers.authorization).toBe('Bearer t2')
  })

  it.each<[string, RestHandler]>([
    ['a refusal', () => ({ status: 401, json: { error: 'c4n4ry' } })],
    ['a refusal with a token', () => ({ status: 401, json: { access_token: 'c4n4ry', expires_in: 100 } })],
    ['nonsense', () => ({ json: { token: 'c4n4ry' } })],
    ['a redirect', () => ({ status: 307, headers: { location: '/token' } })],
  ])('%s of the token endpoint: SERVICE_UNAVAILABLE, and the next call asks again', async (_, answer) => {
    const { issuer, get, backend } = await tokens(answer)
    const error: unknown = await get().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      message: 'The access token for the upstream could not be obtained.',
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    })
    expect(JSON.stringify(error)).not.toContain('c4n4ry')
    await get().catch(() => undefined)
    expect(issuer.requests).toHaveLength(2)
    expect(backend.requests).toHaveLength(0)
  })
})

it('a token endpoint whose response does not end is read within a bound', async () => {
  let sent = 0
  async function* endless(): AsyncGenerator<string> {
    for (; sent < 50_000_000; sent += 10_000) {
      yield ' '.repeat(10_000)
      await new Promise(setImmediate)
    }
  }
  const issuer = cleanup.use(await startRestBackend(() => ({ body: endless() })))
  const interceptor = oauth2ClientCredentials({
    tokenUrl: issuer.url,
    clientId: 'id',
    clientSecret: 'secret',
  })
  const { get } = await serve({ interceptors: [interceptor] })
  await expect(get()).rejects.toThrow('The access token')
  expect(sent).toBeLessThan(5_000_000)
})

describe('logBodies', () => {
  it('replaces secrets, cuts at 4 KiB, and never writes headers', async () => {
    const lines: string[] = []
    const { connector } = await serve(
      {
        logBodies: { redact: ['ssn'] },
        logger: { info: (...line) => lines.push(JSON.stringify(line)) },
        interceptors: [bearer('c4n4ry')],
      },
      () => ({
        json: { access_token: 'c4n4ry', list: [{ SSN: 'c4n4ry', ok: 'shown' }], big: 'x'.repeat(10_000) },
        headers: { 'set-cookie': 'c4n4ry' },
      }),
    )
    await connector.execute('login', { user: 'ada', password: 'c4n4ry', nested: { apiKey: 'c4n4ry' } })
    expect(lines).toHaveLength(2)
    expect(lines.join('')).not.toContain('c4n4ry')
    expect(lines[0]).toContain('ada')
    expect(lines[1]).toContain('shown')
    expect(lines[1]?.length).toBeLessThan(4600)
  })

  it('does not write what it cannot redact', async () => {
    const lines: string[] = []
    const { get } = await serve(
      { logBodies: true, noRetry: true, logger: { info: (...line) => lines.push(JSON.stringify(line)) } },
      () => ({ body: '{"password":"c4n4ry"', headers: { 'content-type': 'application/json' } }),
    )
    await expect(get()).rejects.toThrow('invalid response')
    expect(lines.join('')).toContain('[20 bytes of application/json]')
    expect(lines.join('')).not.toContain('c4n4ry')
  })

  it('is refused in production, unless forced', () => {
    const make = (logBodies: RestConnectorOptions['logBodies']) =>
      cleanup.use(
        createRestConnector('c', {
          baseUrl: 'http://127.0.0.1:1',
          endpoints: [],
          env: { NODE_ENV: 'production' },
          logBodies,
        }),
      )
    expect(() => make(true)).toThrow(
      'REST connector "c": logBodies can write personal data to the log and is refused if NODE_ENV is "production"',
    )
    expect(make({ force: true }).name).toBe('c')
    expect(make(false).name).toBe('c')
  })
})

describe('observe', () => {
  it('sees every attempt start and end', async () => {
    const seen: unknown[] = []
    let answers = 0
    const { get } = await serve(
      {
        observe: ({ endpoint, attempt }) => {
          seen.push(`${endpoint} ${attempt} starts`)
          return ({ status, error }) =>
            seen.push(`${endpoint} ${attempt} ends ${status} ${error !== undefined}`)
        },
      },
      () => (++answers === 1 ? { status: 503 } : { json: 1 }),
    )
    await get()
    expect(seen).toEqual(['get 1 starts', 'get 1 ends 503 true', 'get 2 starts', 'get 2 ends 200 false'])
  })
})

describe('an HTTP proxy from the environment', () => {
  it('is used, except for hosts in NO_PROXY', async () => {
    const targets: string[] = []
    const proxy = createServer()
    proxy.on('connect', (request, socket) => {
      targets.push(request.url ?? '')
      const [host = '', port] = (request.url ?? '').split(':')
      const onward = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        onward.pipe(socket)
        socket.pipe(onward)
      })
      onward.on('error', () => socket.destroy())
      socket.on('error', () => onward.destroy())
      cleanup.use(() => onward.destroy())
    })
    await new Promise<void>((resolve) => {
      proxy.listen(0, '127.0.0.1', resolve)
    })
    cleanup.use(() => proxy.close())
    const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const through = await serve({ env: { HTTP_PROXY } })
    expect((await through.get()).rawUrl).toBe('/api/x')
    expect(targets).toEqual([`127.0.0.1:${through.backend.port}`])
    const direct = await serve({ env: { HTTP_PROXY, NO_PROXY: '127.0.0.1' } })
    expect((await direct.get()).rawUrl).toBe('/api/x')
    expect(targets).toHaveLength(1)
  })
})
