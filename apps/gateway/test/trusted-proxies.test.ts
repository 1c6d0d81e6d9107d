import type { IncomingMessage } from 'node:http'
import * as fc from 'fast-check'
import { startRestBackend } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTrustedProxies, isProxyRange } from '../src/http/trusted-proxies.ts'
import { parseConfig } from '../src/config/file/parse-config.ts'
import { post, startGateway } from './support/gateway.ts'

function request(peer: string, headers: Record<string, string>): IncomingMessage {
  const rawHeaders = Object.entries(headers).flat()
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  return { socket: { remoteAddress: peer }, headers: lower, rawHeaders } as unknown as IncomingMessage
}

const NAMES = [
  'Forwarded',
  'X-Forwarded-For',
  'x-forwarded-host',
  'X-FORWARDED-PROTO',
  'x-forwarded-user',
  'X-Real-IP',
  'CF-Connecting-IP',
  'True-Client-IP',
]

it('reads the address of a connection once for all its requests', () => {
  let reads = 0
  const socket = {
    get remoteAddress() {
      reads++
      return '::ffff:203.0.113.9'
    },
  }
  const proxies = createTrustedProxies(false)
  const addresses = Array.from({ length: 100 }, () =>
    proxies.addressOf({ ...request('', {}), socket } as unknown as IncomingMessage),
  )
  expect(new Set(addresses)).toEqual(new Set(['203.0.113.9']))
  expect(reads).toBe(1)
  expect(proxies.addressOf(request('198.51.100.7', {}))).toBe('198.51.100.7')
})

describe('headers of proxies', () => {
  it('of a client are taken away wherever they are read, and no others', () => {
    const kept = fc.stringMatching(/^x?-?[a-z]{1,8}$/).filter((name) => !/forwarded/.test(name))
    fc.assert(
      fc.property(fc.subarray(NAMES), fc.uniqueArray(kept), (forged, others) => {
        const all = [...forged, ...others].toSorted()
        const sent = request('203.0.113.9', Object.fromEntries(all.map((name) => [name, 'forged'])))
        createTrustedProxies(['10.0.0.0/8']).clean(sent)
        const left = others.toSorted()
        expect(Object.keys(sent.headers).toSorted()).toEqual(left.map((name) => name.toLowerCase()))
        expect(sent.rawHeaders.filter((_, index) => index % 2 === 0).toSorted()).toEqual(left)
      }),
    )
  })

  it.each<[boolean | string[], string, boolean]>([
    [false, '127.0.0.1', false],
    [true, '203.0.113.9', true],
    [['loopback'], '127.0.0.1', true],
    [['loopback'], '::ffff:127.0.0.1', true],
    [['loopback'], '::1', true],
    [['private'], '10.1.2.3', true],
    [['private'], '172.32.0.1', false],
    [['203.0.113.9'], '203.0.113.9', true],
    [['203.0.113.0/24'], '203.0.114.1', false],
    [['2001:db8::/32'], '2001:db8::1', true],
    [['10.0.0.0/8'], '', false],
  ])('with trustProxy %j, of %s: kept is %s', (trusted, peer, isKept) => {
    const sent = request(peer, { 'x-forwarded-for': '1.2.3.4' })
    createTrustedProxies(trusted).clean(sent)
    expect(sent.headers['x-forwarded-for'] !== undefined).toBe(isKept)
  })

  it.each([
    ['nobody is trusted', false, '203.0.113.9', '1.1.1.1', '203.0.113.9'],
    ['one proxy', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1', '1.1.1.1'],
    ['what the client wrote before', ['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.1.1.1', '1.1.1.1'],
    ['several proxies', ['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.1.1.1, 10.0.0.2', '1.1.1.1'],
    ['a port', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1:443', '1.1.1.1'],
    ['IPv6 with a port', ['10.0.0.0/8'], '10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
    ['what is no address', ['10.0.0.0/8'], '10.0.0.1', 'unknown', '10.0.0.1'],
    ['none told', ['10.0.0.0/8'], '10.0.0.1', '', '10.0.0.1'],
    ['all are trusted: the first told', true, '10.0.0.1', '6.6.6.6, 1.1.1.1', '6.6.6.6'],
  ])('the address of the client: %s', (_, trusted, peer, told, expected) => {
    const sent = request(peer, { 'x-forwarded-for': told })
    expect(createTrustedProxies(trusted).addressOf(sent)).toBe(expected)
  })

  it('a range is one, or the config is refused', () => {
    expect(['10.0.0.0/8', '::1', 'private', '::/0'].every(isProxyRange)).toBe(true)
    expect(['10.0.0', '10.0.0.0/33', '10.0.0.0/8/8', 'localhost', ''].some(isProxyRange)).toBe(false)
    expect(() => parseConfig({ server: { trustProxy: ['nginx'] } })).toThrow(
      /server\.trustProxy\[0\]: expected "loopback", "private", an IP address, or a range/,
    )
  })

  it('reach a backend that is to get them from trusted proxies alone', async () => {
    const backend = await startRestBackend(({ headers }) => ({ json: headers['x-forwarded-for'] ?? 'none' }))
    onTestFinished(() => backend.stop())
    const rest = {
      shop: {
        baseUrl: backend.url,
        forwardHeaders: ['x-forwarded-for'],
        endpoints: [{ name: 'from', path: '/' }],
      },
    }
    for (const [trustProxy, from] of [
      [false, 'none'],
      [['loopback'], '1.2.3.4'],
    ] as const) {
      const { endpoint } = await startGateway({ rest }, { trustProxy })
      const answer = await post(endpoint, { query: '{ from }' }, { 'x-forwarded-for': '1.2.3.4' })
      expect(await answer.json()).toEqual({ data: { from } })
    }
  })
})
