import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/file/parse-config.ts'
import { createOriginList } from '../src/http/cors.ts'
import type { GraphqlConfig } from '../src/http/http-types.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

type Cors = NonNullable<GraphqlConfig['cors']>
const APP = 'https://app.example'

async function ask(cors: Cors, origin: string, preflight: Record<string, string> = {}): Promise<Headers> {
  const { endpoint } = await startGateway({ ...OWN_SCHEMA, graphql: { cors } })
  const isPreflight = Object.keys(preflight).length > 0
  const response = await fetch(isPreflight ? endpoint : `${endpoint}?query={hello}`, {
    method: isPreflight ? 'OPTIONS' : 'GET',
    headers: { origin, ...preflight },
  })
  await response.text()
  return response.headers
}

const PREFLIGHT = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'content-type,x-tenant',
}

describe('CORS', () => {
  it.each<[string, Cors, string, string | null, string | null]>([
    ['a listed origin', [APP], APP, APP, 'true'],
    ['another one', [APP], 'https://evil.example', null, null],
    ['in an object', { origins: [APP] }, APP, APP, 'true'],
    ['without credentials', { origins: [APP], credentials: false }, APP, APP, null],
    [
      'a pattern',
      { origins: ['/https://[a-z-]+\\.app\\.example/'] },
      'https://a-b.app.example',
      'https://a-b.app.example',
      'true',
    ],
    [
      'a pattern is of the whole origin',
      ['/https://a\\.example/'],
      'https://a.example.evil.example',
      null,
      null,
    ],
    ['a pattern, from its begin on', ['/https://a\\.example/'], 'xhttps://a.example', null, null],
    [
      'alternatives of a pattern too',
      ['/https://a\\.example|https://b\\.example/'],
      'https://b.example.evil',
      null,
      null,
    ],
    ['a RegExp', { origins: [/https:\/\/(a|b)\.example/] }, 'https://b.example', 'https://b.example', 'true'],
    [
      'a RegExp with a memory',
      { origins: [/https:\/\/b\.example/g] },
      'https://b.example',
      'https://b.example',
      'true',
    ],
    ['any', { origins: ['*'] }, 'https://x.example', 'https://x.example', null],
    ['any, beside a listed one', { origins: ['*', APP] }, APP, APP, 'true'],
    ['null is no listed one', [APP], 'null', null, null],
  ])('%s', async (_, cors, origin, allowed, credentials) => {
    const headers = await ask(cors, origin)
    expect(headers.get('access-control-allow-origin')).toBe(allowed)
    expect(headers.get('access-control-allow-credentials')).toBe(credentials)
    expect(headers.get('vary')).toMatch(/origin/i)
  })

  it('says what the config says of headers and time', async () => {
    const cors: Cors = {
      origins: [APP],
      exposedHeaders: ['x-request-id'],
      maxAgeSeconds: 600,
    }
    const headers = await ask(cors, APP, PREFLIGHT)
    expect(Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))).toEqual({
      'access-control-allow-origin': APP,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type,x-tenant',
      'access-control-expose-headers': 'x-request-id',
      'access-control-max-age': '600',
    })
  })

  it('allows what is asked for by default', async () => {
    const headers = await ask([APP], APP, PREFLIGHT)
    expect(headers.get('access-control-allow-methods')).toBe('POST')
    expect(headers.get('access-control-allow-headers')).toBe('content-type,x-tenant')
  })

  it.each([
    [{ origins: ['*'], credentials: true }, /graphql\.cors\.credentials: CORS does not allow credentials/],
    [['/(/'], /graphql\.cors\[0\]: expected "\*", an origin/],
    [['app.example'], /graphql\.cors\[0\]: expected "\*", an origin/],
    [['https://app.example/page'], /graphql\.cors\[0\]: expected "\*", an origin/],
    [{ origin: [APP] }, /graphql\.cors\.origin: unknown setting; did you mean origins\?/],
  ])('refuses %j', (cors, message) => {
    expect(() => parseConfig({ graphql: { cors } })).toThrow(message)
  })

  it('no origin gets in by what it puts around a listed one', () => {
    const isListed = createOriginList(['/https://([a-z]+\\.)?app\\.example/', APP])
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        fc.pre(before + after !== '' && !/^[a-z]+\.$/.test(before))
        expect(isListed(`${before}${APP}${after}`)).toBe(false)
      }),
    )
  })
})

it('an origin that no browser sends is refused at the start', () => {
  const scheme = fc.constantFrom('http', 'https', 'HTTPS', 'ftp')
  const host = fc.constantFrom(
    'a.example',
    'A.example',
    '*.a.example',
    'münchen.example',
    '10.0.0.1',
    '[::1]',
    '',
  )
  const port = fc.constantFrom('', ':80', ':443', ':8080', ':08080', ':99999')
  const rest = fc.constantFrom('', '/', '/x', '?x', '#x')
  fc.assert(
    fc.property(scheme, host, port, rest, (...parts) => {
      const [name, at, number, end] = parts
      const listed = `${name}://${at}${number}${end}`
      const expected = URL.canParse(listed) && new URL(listed).origin === listed && !at.includes('*')
      const parse = (): unknown => parseConfig({ graphql: { cors: [listed] } })
      const message = expected ? '' : 'graphql.cors[0]: expected "*", an origin as browsers send it'
      expect(mistakeOf(parse)).toContain(message)
      expect(mistakeOf(parse) === '').toBe(expected)
    }),
    { numRuns: 500 },
  )
})

it.each(['capacitor://localhost', 'chrome-extension://abcdef', 'app://.'])('%s is one too', (listed) => {
  expect(mistakeOf(() => parseConfig({ graphql: { cors: [listed] } }))).toBe('')
})

function mistakeOf(run: () => unknown): string {
  try {
    run()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
