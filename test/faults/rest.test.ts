import { gzipSync } from 'node:zlib'
import { createDisposables, type RestAnswer, type RestBackend, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { timeUnder } from './support/attempts.ts'
import { ms, recordFigure } from './support/figures.ts'
import { type RunningGateway, startGateway } from './support/gateway.ts'

const TIMEOUT_MS = 500

const disposables = createDisposables(afterAll)
let backend: RestBackend
let elsewhere: RestBackend
let gateway: RunningGateway

beforeAll(async () => {
  backend = disposables.use(await startRestBackend(() => ({ json: { ok: true } })))
  elsewhere = disposables.use(await startRestBackend(() => ({ json: { stolen: true } })))
  gateway = disposables.use(
    await startGateway({
      config: {
        rest: {
          api: {
            baseUrl: `${backend.url}/base`,
            timeoutMs: TIMEOUT_MS,
            retry: { maxRetries: 0 },
            defaultHeaders: { 'x-secret': 'of the connector' },
            forwardHeaders: ['authorization'],
            endpoints: [
              { name: 'thing', path: '/things/{id}', args: { id: 'ID!' } },
              {
                name: 'write',
                method: 'POST',
                path: '/things',
                args: { name: 'String!' },
                bodyTemplate: '{ "name": "{name}", "admin": false }',
              },
            ],
          },
        },
      },
    }),
  )
})

beforeEach(() => backend.handle(() => ({ json: { ok: true } })))

const ask = (id = '1') =>
  gateway.query('query ($id: ID!) { thing(id: $id) }', { id }, { authorization: 'Bearer x' })

describe('arguments made to escape', () => {
  it.each([
    ['..'],
    ['.'],
    [''],
    ['../../admin?x=1#'],
    ['%2e%2e'],
    ['%2e%2e%2f'],
    ['..%2f'],
    ['//evil/x'],
    ['\\\\evil\\x'],
    ['https://evil/x'],
    ['@evil'],
    ['a/../../b'],
    ['\ud800'],
  ])('%j is refused or stays in its segment', async (id) => {
    const before = backend.requests.length
    const answer = await ask(id)
    const requests = backend.requests.slice(before)
    const refusals = answer.errors.map(({ extensions }) => extensions.code)
    expect(refusals).toEqual(requests.length === 0 ? ['BAD_USER_INPUT'] : [])
    for (const { rawUrl } of requests) expect(rawUrl).toMatch(/^\/base\/things\/[^/?#\\]+$/)
    expect(elsewhere.requests).toEqual([])
    recordFigure({
      area: 'REST',
      fault: `path argument ${JSON.stringify(id)}`,
      asked: 'refused or contained',
      seen: requests[0] ? `sent as ${requests[0].rawUrl}` : 'refused',
    })
  })

  it.each([['", "admin": true, "x": "'], ['$&'], ["$'"], ['\\'], ['\n\u0000']])(
    'body template: %j is a string’s content',
    async (name) => {
      const before = backend.requests.length
      await gateway.query('mutation ($name: String!) { write(name: $name) }', { name })
      expect(backend.requests[before]!.json()).toEqual({ name, admin: false })
    },
  )
})

describe('upstreams that behave badly', () => {
  async function* drip() {
    yield '{"a": "'
    for (;;) {
      yield 'x'
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  it.each<[string, string, RestAnswer | (() => RestAnswer)]>([
    ['headers that do not come', 'TIMEOUT', { delayMs: 20_000 }],
    [
      'a body that does not end',
      'TIMEOUT',
      () => ({ headers: { 'content-type': 'application/json' }, body: drip() }),
    ],
    [
      '50 MB out of 50 kB of gzip',
      'REST_BAD_RESPONSE|REST_RESPONSE_TOO_LARGE',
      {
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: gzipSync(Buffer.alloc(50_000_000, 'x')),
      },
    ],
    [
      'a body that is cut',
      'REST_BAD_RESPONSE|SERVICE_UNAVAILABLE',
      {
        write: (response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
          response.write('{"a":')
          setTimeout(() => response.destroy(), 20)
        },
      },
    ],
    ['bad JSON', 'REST_BAD_RESPONSE', { headers: { 'content-type': 'application/json' }, body: '{"a":' }],
  ])('%s: %s', async (fault, code, answer) => {
    let seen: string | undefined
    const took = await timeUnder(TIMEOUT_MS + 500, async () => {
      backend.answerNext(answer)
      const at = performance.now()
      const { data, errors } = await ask()
      seen = errors[0]?.extensions.code
      expect(data).toEqual({ thing: null })
      expect(seen).toMatch(new RegExp(`^(${code})$`))
      return performance.now() - at
    })
    recordFigure({
      area: 'REST',
      fault,
      asked: code === 'TIMEOUT' ? `TIMEOUT at ${TIMEOUT_MS} ms + 50 ms` : 'a typed error',
      seen: `${seen} after ${ms(took)}`,
    })
    expect(took).toBeLessThan(TIMEOUT_MS + 500)
    expect((await ask()).errors).toEqual([])
  })

  it('a redirect to another origin carries no credentials', async () => {
    backend.answerNext({ status: 302, headers: { location: `${elsewhere.url}/steal` } })
    const { errors } = await ask()
    const leaked = elsewhere.requests.filter(({ headers }) => headers.authorization ?? headers['x-secret'])
    recordFigure({
      area: 'REST',
      fault: 'a redirect to another origin',
      asked: 'no credentials',
      seen: `${elsewhere.requests.length} requests there, ${leaked.length} with credentials; ${errors[0]?.extensions.code ?? 'answered'}`,
    })
    expect(leaked).toEqual([])
  })
})
