import { createDisposables, createFakeClock, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createRestConnector,
  oauth2ClientCredentials,
  setHeaders,
  useRestConnector,
  type RequestInterceptor,
  type RestConnectorOptions,
} from '../../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const none: RequestInterceptor = () => undefined

/** An API that takes the tokens in `valid`, the server that issues `t1`, `t2` and so on, and a Yoga server. */
async function serve(options: Partial<RestConnectorOptions> = {}, more: readonly RequestInterceptor[] = []) {
  const valid = new Set(['Bearer t1'])
  let issued = 0
  const issuer = cleanup.use(
    await startRestBackend(() => ({ json: { access_token: `t${++issued}`, expires_in: 3600 } })),
  )
  const api = cleanup.use(
    await startRestBackend(({ headers, body }) =>
      valid.has(headers.authorization ?? '') ? { json: { got: body.length } } : { status: 401, json: {} },
    ),
  )
  const clock = createFakeClock()
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: api.url,
      endpoints: [
        { name: 'read', path: '/x', responseSchema: { typeName: 'Got', fields: { got: 'int' } } },
        { name: 'write', path: '/x', method: 'POST', args: { text: 'String' }, returnType: 'Got' },
        {
          name: 'upload',
          path: '/x',
          method: 'POST',
          args: { input: 'Upload' },
          body: { contentType: 'image/png' },
          returnType: 'Got',
        },
      ],
      interceptors: [
        oauth2ClientCredentials({
          tokenUrl: issuer.url,
          clientId: 'id',
          clientSecret: 'secret',
          clock,
        }),
        ...more,
      ],
      ...options,
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  async function ask(query: string, variables = {}): Promise<unknown> {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = (await response.json()) as any
    return errors?.[0].extensions.code ?? Object.values(data)[0]
  }
  return { ask, valid, issuer, api, clock, yoga, connector }
}

const read = '{ read { got } }'
const write = 'mutation { write(text: "abc") { got } }'

describe.each<[string, Partial<RestConnectorOptions>, readonly RequestInterceptor[]]>([
  ['', {}, []],
  [', next to other interceptors', {}, [none]],
  [', next to headers', {}, [setHeaders(() => ({ 'x-a': '1' }))]],
  [', without retries', { noRetry: true }, []],
])('a token that the API rejects with 401%s', (_, options, more) => {
  it.each([
    ['query', read, { got: 0 }],
    ['mutation', write, { got: 14 }],
  ])('is replaced, and the %s is sent once more', async (_, query, data) => {
    const { ask, valid, issuer, api } = await serve(options, more)
    expect(await ask(query)).toEqual(data)
    valid.clear()
    valid.add('Bearer t2')
    expect(await ask(query)).toEqual(data)
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer t1',
      'Bearer t1',
      'Bearer t2',
    ])
    expect(issuer.requests).toHaveLength(2)
  })
})

it('is replaced once for all requests that it was rejected for', async () => {
  const { ask, valid, issuer } = await serve()
  await ask(read)
  valid.clear()
  valid.add('Bearer t2')
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(write)))
  expect(new Set(answers.map((one) => JSON.stringify(one)))).toEqual(new Set(['{"got":14}']))
  expect(issuer.requests).toHaveLength(2)
})

it('is asked for again at most once in ten seconds by an API that rejects each', async () => {
  const { ask, valid, issuer, api, clock } = await serve()
  valid.clear()
  for (let call = 0; call < 5; call++) expect(await ask(read)).toBe('UNAUTHENTICATED')
  expect([issuer.requests.length, api.requests.length]).toEqual([2, 6])
  await clock.advance(10_000)
  for (let call = 0; call < 5; call++) expect(await ask(read)).toBe('UNAUTHENTICATED')
  expect([issuer.requests.length, api.requests.length]).toEqual([3, 12])
})

it('is replaced, and an upload is sent once more if its bytes are still there', async () => {
  const { ask, valid, yoga, api, connector } = await serve()
  await ask(read)
  valid.clear()
  valid.add('Bearer t2')
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('bytes')
  }
  const once = connector.execute('upload', { input: { isOnce: true, stream } })
  await expect(once).rejects.toMatchObject({ extensions: { code: 'UNAUTHENTICATED' } })
  expect(api.requests).toHaveLength(2)
  valid.add('Bearer t1')
  expect(await ask(read)).toEqual({ got: 0 })
  expect(api.requests.at(-1)?.headers.authorization).toBe('Bearer t2')

  const query = 'mutation ($f: Upload) { upload(input: $f) { got } }'
  const form = new FormData()
  form.set('operations', JSON.stringify({ query, variables: { f: null } }))
  form.set('map', '{"0":["variables.f"]}')
  form.set('0', new File(['bytes'], 'a.png'))
  const response = await yoga.fetch('http://yoga/graphql', { method: 'POST', body: form })
  expect(await response.json()).toEqual({ data: { upload: { got: 5 } } })
})

it('is kept after any other status', async () => {
  const { ask, issuer } = await serve({ noRetry: true, baseUrl: `${(await refusing(403)).url}` })
  for (let call = 0; call < 3; call++) expect(await ask(read)).toBe('FORBIDDEN')
  expect(issuer.requests).toHaveLength(1)
})

async function refusing(status: number) {
  return cleanup.use(await startRestBackend(() => ({ status, json: {} })))
}
