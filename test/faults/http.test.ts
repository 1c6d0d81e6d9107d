import { gzipSync } from 'node:zlib'
import { createDisposables, type RawRequest, requestMultipart, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { median, ms, recordFigure } from './support/figures.ts'
import { type RunningGateway, startGateway } from './support/gateway.ts'

const disposables = createDisposables(afterAll)
const gateways = new Map<string, RunningGateway>()
const executed: string[] = []

beforeAll(async () => {
  const backend = disposables.use(
    await startRestBackend(({ method }) => {
      executed.push(method)
      return { json: {} }
    }),
  )
  for (const preset of ['development', 'production']) {
    const gateway = await startGateway({
      args: ['--preset', preset],
      config: {
        rest: {
          api: {
            baseUrl: backend.url,
            endpoints: [
              {
                name: 'a',
                path: '/a',
                returnType: 'A',
                responseSchema: { typeName: 'A', fields: { a: 'A', id: 'id' } },
              },
              { name: 'write', method: 'POST', path: '/write' },
            ],
          },
        },
      },
    })
    gateways.set(preset, disposables.use(gateway))
  }
})

async function send(preset: string, request: RawRequest & { path?: string }) {
  const { path = '/graphql', ...options } = request
  const url = gateways.get(preset)!.url + path
  const response = await requestMultipart(url, {
    ...options,
    headers: { accept: 'application/json', ...options.headers },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const deep = (depth: number): string => `{ ${'a { '.repeat(depth)}id${' }'.repeat(depth)} }`
const json = { 'content-type': 'application/json' }
const mutation = 'mutation { write }'

describe.each(['development', 'production'])('a document made to hurt, %s preset', (preset) => {
  it.each([
    ['depth 2,000', '10 ms', deep(2_000)],
    ['depth 5,000', '10 ms', deep(5_000)],
    ['depth 20,000', '10 ms', deep(20_000)],
    [
      '50,000 aliases',
      '20 ms',
      `{ ${Array.from({ length: 50_000 }, (_, n) => `a${n}: __typename`).join(' ')} }`,
    ],
  ])('%s: 400, in about %s', async (fault, asked, query) => {
    const times: number[] = []
    for (let round = 0; round < 9; round++) {
      const at = performance.now()
      const { status, text } = await send(preset, { body: { query } })
      times.push(performance.now() - at)
      expect([status, JSON.parse(text).data]).toEqual([400, undefined])
    }
    recordFigure({
      area: 'HTTP',
      fault: `${fault} (${preset})`,
      asked: `400 in ${asked}`,
      seen: `400 in ${ms(median(times))}, sending included`,
    })
    // The least: what the machine delays is not late each time, what a document costs is.
    expect(Math.min(...times)).toBeLessThan(100)
    expect((await send(preset, { body: { query: '{ __typename }' } })).status).toBe(200)
  })
})

describe('a body made to hurt', () => {
  const bigJson = JSON.stringify({ query: `{ __typename } #${'x'.repeat(1_100_000)}` })
  const form = 'application/x-www-form-urlencoded'
  const multipart = `--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query: mutation })}\r\n--b\r\nContent-Disposition: form-data; name="map"\r\n\r\n{}\r\n--b--\r\n`

  it.each<[string, readonly number[], RawRequest & { path?: string }]>([
    ['over 1 MB', [413], { body: bigJson, headers: json }],
    ['bad UTF-8', [400], { body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), headers: json }],
    ['truncated JSON', [400], { body: '{"query": "{ __typen', headers: json }],
    [
      'gzip junk',
      [400, 415],
      { body: Buffer.from('no gzip'), headers: { ...json, 'content-encoding': 'gzip' } },
    ],
    [
      'a gzip bomb',
      [400, 413, 415],
      { body: gzipSync(Buffer.alloc(50_000_000)), headers: { ...json, 'content-encoding': 'gzip' } },
    ],
    ['an empty body', [400], { body: '', headers: json }],
    [
      'text/plain',
      [403, 415],
      { body: JSON.stringify({ query: '{ __typename }' }), headers: { 'content-type': 'text/plain' } },
    ],
    [
      'a urlencoded mutation',
      [403, 405, 415],
      { body: `query=${encodeURIComponent(mutation)}`, headers: { 'content-type': form } },
    ],
    [
      'a multipart mutation',
      [400, 403, 405, 415],
      { body: multipart, headers: { 'content-type': 'multipart/form-data; boundary=b' } },
    ],
    ['a GET mutation', [403, 405], { path: `/graphql?query=${encodeURIComponent(mutation)}` }],
  ])('%s: refused with one of %j, no internals', async (fault, statuses, request) => {
    const before = executed.length
    const { status, text } = await send('production', request)
    recordFigure({ area: 'HTTP', fault, asked: statuses.join(' or '), seen: String(status) })
    expect(statuses).toContain(status)
    expect(text).not.toMatch(/\bat .*\.[jt]s|node_modules|SyntaxError|position \d|stack/)
    expect(executed.length).toBe(before)
  })

  it('a foreign Origin gets no CORS headers', async () => {
    for (const method of ['POST', 'OPTIONS']) {
      const { headers } = await send('production', {
        method,
        headers: { origin: 'https://evil.example', ...json, 'access-control-request-method': 'POST' },
        ...(method === 'POST' ? { body: { query: '{ __typename }' } } : {}),
      })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})
