import { connect } from 'node:net'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createOriginCheck, type AllowedOrigins } from '../src/protocol/origins.ts'
import { startLive, type LiveSetup } from './support.ts'

const HOST = 'api.example:4000'

function mayConnect(
  origin: string | undefined,
  given: Readonly<Record<string, string>> = {},
  { allowed = [], encrypted = false }: { allowed?: AllowedOrigins; encrypted?: boolean } = {},
): boolean {
  const headers = new Headers({ host: HOST, ...given, ...(origin !== undefined && { origin }) })
  return createOriginCheck(allowed)({ headers, encrypted })
}

describe('which pages may open a socket', () => {
  const LISTED = { allowed: ['https://App.example', 'http://dev.example:80', 'null'] }
  it.each<[string, boolean, ...Parameters<typeof mayConnect>]>([
    ['no page', true, undefined],
    ['the server’s own', true, 'http://api.example:4000'],
    ['in other letters', true, 'HTTP://API.example:4000'],
    ['before TLS that ends at a proxy', true, 'https://api.example:4000'],
    ['over TLS here, a page without', false, 'http://api.example:4000', {}, { encrypted: true }],
    ['over TLS here', true, 'https://api.example:4000', {}, { encrypted: true }],
    ['a default port, said by one side', true, 'https://api.example', { host: 'api.example:443' }],
    ['a default port of another scheme', false, 'http://api.example', { host: 'api.example:443' }],
    ['another port', false, 'http://api.example:4001'],
    ['another host', false, 'http://evil.example'],
    ['a host that begins alike', false, 'http://api.example.evil.example:4000'],
    ['a host behind a user', false, 'http://api.example:4000@evil.example'],
    ['a path', false, 'http://api.example:4000/'],
    ['an address of IPv6', true, 'http://[::1]:4000', { host: '[::1]:4000' }],
    ['null', false, 'null'],
    ['nothing', false, ''],
    ['two', false, 'http://api.example:4000, http://evil.example'],
    ['a file', false, 'file://'],
    ['a Host that is none', false, 'http://api.example:4000', { host: '@@' }],
    ['what a proxy says', false, 'https://app.example', { 'x-forwarded-host': 'app.example' }],
    ['one without cookies', false, 'https://app.example'],
    ['a listed one, with cookies', true, 'https://app.example', { cookie: 'a=1' }, LISTED],
    ['a listed one with its default port', true, 'http://dev.example', {}, LISTED],
    ['one that is not listed', false, 'https://other.example', {}, LISTED],
    ['null, listed', true, 'null', {}, LISTED],
    ['any, listed', true, 'https://other.example', {}, { allowed: ['*'] }],
    ['any, with cookies', false, 'https://other.example', { cookie: 'a=1' }, { allowed: ['*'] }],
    ['any, with credentials', false, 'null', { authorization: 'Basic x' }, { allowed: ['*'] }],
    ['what a function allows', true, 'https://other.example', {}, { allowed: (o) => o.includes('other') }],
    [
      'what a function promises',
      false,
      'https://other.example',
      {},
      { allowed: (async () => true) as never },
    ],
    ['what a function does not', false, 'http://api.example:4000', {}, { allowed: () => false }],
  ])('%s: %s', (_, expected, ...given) => {
    expect(mayConnect(...given)).toBe(expected)
  })

  it('no text of an Origin is taken for the server’s own, but its own', () => {
    const parts = fc.constantFrom(
      'http',
      'https',
      '://',
      ':',
      '/',
      '@',
      '#',
      '?',
      '\\',
      '.',
      '%2e',
      HOST,
      'evil.example',
      'api.example',
      '4000',
      'A',
      ',',
    )
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 7 }).map((texts) => texts.join('')),
        (text) => {
          const isSent = text.trim() === text
          const allowed = isSent && mayConnect(text)
          expect(allowed && !/^https?:\/\/api\.example:4000$/i.test(text)).toBe(false)
        },
      ),
      { numRuns: 5000 },
    )
  })
})

/** The answer to a page that opens a socket. */
async function answerTo(url: string, origin: string): Promise<string> {
  const { host, hostname, port, pathname } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = [`GET ${pathname} HTTP/1.1`, `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket']
  const more = [
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    `Origin: ${origin}`,
  ]
  socket.write(`${[...head, ...more].join('\r\n')}\r\n\r\n`)
  return (await socket.setEncoding('utf8').toArray()).join('')
}

describe('a socket of a foreign page', () => {
  let setup: LiveSetup
  afterEach(() => setup.close())

  it('is refused with 403 before it opens, and opens where the origin is listed', async () => {
    setup = await startLive({ ws: { allowedOrigins: ['https://app.example'] } })
    const { host } = new URL(setup.wsUrl)
    for (const origin of ['https://evil.example', 'null', `http://${host}.evil.example`]) {
      await expect(setup.connect({ headers: { origin } })).rejects.toMatchObject({ statusCode: 403 })
    }
    for (const origin of [`http://${host}`, 'https://app.example']) {
      await expect(setup.connect({ headers: { origin, cookie: 'session=1' } })).resolves.toBeDefined()
    }
    expect(setup.live.sockets).toBe(2)
  })

  it('is refused with the setting that lets it in, and the server is told once of each', async () => {
    setup = await startLive()
    const dev = 'http://localhost:5173'
    const why =
      'A WebSocket of the origin http://localhost:5173 was refused, because allowedOrigins does not allow this origin. Add the origin if you trust it ("*" allows all origins that send no cookies and no Authorization header).'
    for (let time = 0; time < 3; time++) {
      const answer = await answerTo(setup.wsUrl, dev)
      expect(answer).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/)
      expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(why)
    }
    expect(setup.errors.map(String)).toEqual([expect.stringContaining(why)])
    for (let page = 0; page < 50; page++) await answerTo(setup.wsUrl, `http://localhost:${6000 + page}`)
    expect(setup.errors).toHaveLength(10)
    expect((await answerTo(setup.wsUrl, 'x'.repeat(5000))).length).toBeLessThan(700)
  })
})
