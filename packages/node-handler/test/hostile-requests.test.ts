import * as fc from 'fast-check'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { bytesOf, exchange, graphql, openDoors, type RawRequest } from './doors.ts'

const JSON_TYPE = 'application/json'
/** The thin door takes JSON; a GET goes to Yoga's. */
const WAYS = [
  ['the fast path', { method: 'POST', body: graphql('{ hello }') }],
  ["Yoga's own door", { method: 'GET', headers: { 'content-type': undefined } }],
] as const satisfies readonly (readonly [string, RawRequest])[]

const INSIDE = /node_modules|\.[jt]s:\d|\n {4}at |TypeError|Invalid URL|graphql-yoga|whatwg/

describe.each(WAYS)('%s', (_way, way) => {
  const send = async (url: string, request: RawRequest): Promise<string> => {
    const headers = { ...('headers' in way ? way.headers : {}), ...request.headers }
    return exchange(url, bytesOf({ ...way, ...request, headers }))
  }
  /** Answers what path and host it saw. */
  const echo: Plugin = {
    onRequest({ url, request, endResponse, fetchAPI }) {
      endResponse(new fetchAPI.Response(`saw ${url.pathname} of ${request.headers.get('host')}`))
    },
  }

  it('sees the path of the target alone, or refuses: hosts of any characters', async () => {
    const { thin } = await openDoors(() => ({ plugins: [echo] }))
    const pieces = fc.constantFrom(...'ab1.:/?#@[]%\\*,;=&_-~ \t"<>^|{}\xff'.split(''), 'x/metrics?', ':80')
    const hosts = fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join('').trim())
    await fc.assert(
      fc.asyncProperty(hosts, async (host) => {
        const answer = await send(thin, { path: '/graphql', headers: { host } })
        expect(answer).toMatch(/^HTTP\/1\.1 (200 OK[^]*saw \/graphql of|400 Bad Request)/)
        expect(answer).not.toMatch(INSIDE)
      }),
      { numRuns: 150, examples: [['a:b'], ['['], ['%'], ['a b'], ['x/metrics?'], ['1.2.3.4.5'], ['']] },
    )
  })

  it.each([
    ['/a//b/../c?d=e', '404 Not Found'],
    ['/a/.', '404 Not Found'],
    ['/a/..', '404 Not Found'],
    ['/a/%2E%2e/b', '404 Not Found'],
    ['/a/.%2e?x', '404 Not Found'],
    ['/a\\..\\b', '404 Not Found'],
    ['http://h/a/../b', '404 Not Found'],
    ['/a/...', 'saw /a/... of x'],
    ['/a/..b', 'saw /a/..b of x'],
    ['/a?b=/../c', 'saw /a of x'],
    ['/a/%2e%2e%2fb', 'saw /a/%2e%2e%2fb of x'],
    ['//other/a', 'saw //other/a of x'],
    ['http://h:81/a?b', 'saw /a of h:81'],
    ['http://h?b', 'saw / of h'],
    ['HTTPS://h/a', 'saw /a of h'],
    ['http://u:p@h/a', '400 Bad Request'],
    ['http://h:99999/a', '400 Bad Request'],
    ['http://[/a', '400 Bad Request'],
    ['ftp://h/a', '400 Bad Request'],
  ])('the target %s: %s', async (path, expected) => {
    const { thin } = await openDoors(() => ({ plugins: [echo] }))
    expect(await send(thin, { path, headers: { host: 'x' } })).toContain(expected)
  })

  it('refuses a second Host', async () => {
    const { thin } = await openDoors(() => ({ plugins: [echo] }))
    expect(await send(thin, { path: '/', headers: { 'x: y\r\nHost': 'b' } })).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('tells nothing of what failed in a hook', async () => {
    const fails: Plugin = {
      onResponse() {
        throw new TypeError(`of ${import.meta.filename}`)
      },
    }
    const { thin } = await openDoors(() => ({ plugins: [fails] }))
    const answer = await send(thin, { path: '/graphql' })
    expect(answer).toMatch(/^HTTP\/1\.1 500 [^]*\r\n\r\nInternal Server Error\n$/)
  })

  it.each([
    [400, '400 Bad Request'],
    [451, '451 Unavailable For Legal Reasons'],
    [503, '503 Service Unavailable'],
    [200, '500 Internal Server Error'],
    [399, '500 Internal Server Error'],
    [799, '500 Internal Server Error'],
    ['404', '500 Internal Server Error'],
    [undefined, '500 Internal Server Error'],
  ])('tells of what failed with the status %j %s', async (status, expected) => {
    const fails: Plugin = {
      onResponse() {
        throw Object.assign(new Error('of a hook'), { status })
      },
    }
    const { thin } = await openDoors(() => ({ plugins: [fails] }))
    expect(await send(thin, { path: '/graphql' })).toContain(`HTTP/1.1 ${expected}\r\n`)
  })
})

it.each([
  ['JSON', JSON_TYPE, (body: object) => JSON.stringify(body)],
  [
    'multipart',
    'multipart/form-data; boundary=b',
    (body: object) =>
      `--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${JSON.stringify(body)}\r\n--b\r\nContent-Disposition: form-data; name="map"\r\n\r\n{}\r\n--b--\r\n`,
  ],
])('a body of %s with the members of a response is no response', async (_type, type, write) => {
  const touch: Plugin = { onResponse: ({ response }) => response.headers.set('x-seen', '1') }
  for (const plugins of [[], [touch]]) {
    const { thin } = await openDoors(() => ({ plugins }))
    const body = { status: 200, query: '{ __typename }', bodyType: 'String', bodyInit: 'mine' }
    for (const headers of [{}, { headersInit: { 'x-mine': '1' } }]) {
      const answer = await exchange(
        thin,
        bytesOf({ body: write({ ...body, headers }), headers: { 'content-type': type } }),
      )
      expect(answer).toMatch(/^HTTP\/1\.1 (400|500) /)
      expect(answer).not.toMatch(/x-mine|\r\n\r\nmine/)
      expect(answer).not.toMatch(INSIDE)
    }
  }
})
