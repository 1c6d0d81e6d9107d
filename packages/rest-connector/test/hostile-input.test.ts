import { createDisposables, startRestBackend, type RestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRestConnector, type RestConnector } from '../src/index.ts'

const cleanup = createDisposables()
let backend: RestBackend
let elsewhere: RestBackend
let connector: RestConnector

beforeAll(async () => {
  backend = cleanup.use(await startRestBackend(({ rawUrl }) => ({ json: rawUrl })))
  elsewhere = cleanup.use(await startRestBackend())
  connector = cleanup.use(
    createRestConnector('api', {
      baseUrl: `${backend.url}/base/v1`,
      defaultHeaders: { 'x-tenant': '{tenant}' },
      endpoints: [
        { name: 'item', path: '/items/{id}' },
        { name: 'part', path: '/items/{id}/parts/pre-{part}' },
        { name: 'find', path: '/find', queryParams: { q: 'is:{q}', tags: '{tags}' } },
        {
          name: 'say',
          path: '/say',
          method: 'POST',
          bodyTemplate: '{"text": "<{text}>", "any": {any}}',
          args: { any: 'JSON' },
        },
        {
          name: 'form',
          path: '/form',
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          bodyTemplate: 'name={name}&fixed=a%26b&all={all}',
        },
      ],
    }),
  )
})
afterAll(() => cleanup.dispose())

/** What every server that resolves dots, before or after decoding, would make of a path. */
function staysInside(rawUrl: string): boolean {
  const path = rawUrl.split('?')[0] ?? ''
  for (let decoded = path, rounds = 0; rounds < 4; rounds++) {
    if (!new URL(decoded.replaceAll('\\', '/'), backend.url).pathname.startsWith('/base/v1/items/'))
      return false
    decoded = decoded.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    decoded = decoded.replace(/^\/+/, '/')
  }
  return true
}

describe('path arguments: the traversal vectors', () => {
  it.each([
    ['..', 'refused'],
    ['.', 'refused'],
    ['', 'refused'],
    ['../../admin?x=1#', 'refused'],
    ['%2e%2e', 'refused'],
    ['%2e%2e%2f', 'refused'],
    ['..%2f', 'refused'],
    ['//evil/x', '/base/v1/items/%2F%2Fevil%2Fx'],
    ['\\\\evil\\x', '/base/v1/items/%5C%5Cevil%5Cx'],
    [() => `${elsewhere.url}/x`, (id: string) => `/base/v1/items/${encodeURIComponent(id)}`],
    ['@evil', '/base/v1/items/%40evil'],
    ['a/../../b', 'refused'],
    ['\ud800', 'refused'],
    // Beyond the thirteen.
    ['%252e%252e', 'refused'],
    ['..\\..\\x', 'refused'],
    ['a/..', 'refused'],
    ['..?', 'refused'],
    ['..;x', 'refused'],
    ['%2e.%23', 'refused'],
    [`%${'25'.repeat(20)}2e.`, 'refused'],
    ['%25%32%65%%32e', 'refused'],
    ['%%32%65./x', 'refused'],
    ['%%%32%35%32%65%2e', '/base/v1/items/%25%25%2532%2535%2532%2565%252e'],
    ['%252', '/base/v1/items/%25252'],
    ['a'.repeat(65_537), 'refused'],
    ['x\r\nHost: evil', '/base/v1/items/x%0D%0AHost%3A%20evil'],
    ['$&', '/base/v1/items/%24%26'],
    ["$'{id}", "/base/v1/items/%24'%7Bid%7D"],
  ])('%j is %s', async (given, expected) => {
    const id = typeof given === 'function' ? given() : given
    const before = backend.requests.length
    const outcome = await connector.execute('item', { id }).then(
      (url) => url as string,
      (error: { extensions: { code: string } }) => error.extensions.code,
    )
    const isRefused = expected === 'refused'
    expect(outcome).toBe(
      isRefused ? 'BAD_USER_INPUT' : typeof expected === 'string' ? expected : expected(id),
    )
    expect(isRefused || staysInside(outcome)).toBe(true)
    expect(backend.requests).toHaveLength(isRefused ? before : before + 1)
    expect(elsewhere.requests).toHaveLength(0)
  })

  it('no string at all leaves its segment', async () => {
    const nasty = fc.array(
      fc.oneof(
        fc.constantFrom(
          '.',
          '..',
          '/',
          '\\',
          '%2e',
          '%2E',
          '%2f',
          '%5c',
          '%25',
          '%',
          '?',
          '#',
          '@',
          ':',
          ';',
          '//',
          '\0',
          '\ud800',
          ' ',
        ),
        fc.string({ maxLength: 3 }),
      ),
      { maxLength: 6 },
    )
    const runs = Number(process.env['PROPERTY_RUNS'] ?? 200)
    await fc.assert(
      fc.asyncProperty(nasty, nasty, async (first, second) => {
        const before = backend.requests.length
        const code = await connector.execute('part', { id: first.join(''), part: second.join('') }).then(
          () => 'sent',
          (error: { extensions: { code: string } }) => error.extensions.code,
        )
        expect(code).toMatch(/^(?:sent|BAD_USER_INPUT)$/)
        const sent = backend.requests.slice(before).map((request) => request.rawUrl)
        expect(sent).toHaveLength(code === 'sent' ? 1 : 0)
        for (const rawUrl of sent) {
          expect(rawUrl).toMatch(/^\/base\/v1\/items\/[^/?#]+\/parts\/pre-[^/?#]+$/)
          expect(staysInside(rawUrl)).toBe(true)
        }
      }),
      { numRuns: runs },
    )
    expect(elsewhere.requests).toHaveLength(0)
  })
})

describe('arguments elsewhere', () => {
  it('a body template: any string stays the content of its literal, any value one value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.jsonValue(), async (text, any) => {
        await connector.execute('say', { text, any })
        expect(backend.requests.at(-1)?.json()).toEqual({
          text: `<${text}>`,
          any: JSON.parse(JSON.stringify(any)),
        })
      }),
      { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 100) },
    )
  })

  it.each(['","admin":true,"x":"', '$&', "$'", '$1', '{any}', '\\', '\\"', '\u2028'])(
    'a body template is not broken by %j',
    async (text) => {
      await connector.execute('say', { text, any: 1 })
      expect(backend.requests.at(-1)?.json()).toEqual({ text: `<${text}>`, any: 1 })
    },
  )

  it('a form body: values are encoded, lists repeated, absent ones left out', async () => {
    await connector.execute('form', { name: 'a&admin=1', all: ['x=1', '&'] })
    const sent = String(backend.requests.at(-1)?.body)
    expect([...new URLSearchParams(sent)]).toEqual([
      ['name', 'a&admin=1'],
      ['fixed', 'a&b'],
      ['all', 'x=1'],
      ['all', '&'],
    ])
    await connector.execute('form', {})
    expect(String(backend.requests.at(-1)?.body)).toBe('fixed=a%26b')
  })

  it.each(['a&admin=1', 'a#b', 'a+b c', '%26', '\n', '$&'])(
    'a query parameter holds %j as one value',
    async (q) => {
      await connector.execute('find', { q })
      expect([...(backend.requests.at(-1)?.url.searchParams ?? [])]).toEqual([['q', `is:${q}`]])
    },
  )

  it.each(['a\r\nx: y', 'a\nb', 'a\0b', 'a\u007f', 'ā'])(
    'a header value %j is BAD_USER_INPUT naming the header, never the value',
    async (tenant) => {
      const before = backend.requests.length
      await expect(connector.execute('item', { id: '1', tenant })).rejects.toMatchObject({
        message: expect.stringContaining('header "x-tenant"'),
        extensions: { code: 'BAD_USER_INPUT', connector: 'api', endpoint: 'item' },
      })
      const error = await connector.execute('item', { id: '1', tenant }).catch((reason: Error) => reason)
      expect((error as Error).message).not.toContain(tenant)
      expect(backend.requests).toHaveLength(before)
    },
  )

  it.each([
    [{ id: { toString: () => 'x' } }, 'The value for "id" must be a string, a finite number or a boolean.'],
    [{ id: Number.NaN }, 'The value for "id" must be a string, a finite number or a boolean.'],
    [{ id: ['a', 'b'] }, 'The value for "id" must be a string, a finite number or a boolean.'],
    [{ id: null }, 'Argument "id" is required.'],
    [{}, 'Argument "id" is required.'],
    [{ id: '1', other: 2 }, 'Unknown argument "other"; expected id, tenant.'],
    [JSON.parse('{"id": "1", "__proto__": 2}'), 'Unknown argument "__proto__"'],
    [Object.create({ id: '1' }), 'Argument "id" is required.'],
  ])('%j is refused with a message that helps', async (args, message) => {
    await expect(connector.execute('item', args)).rejects.toMatchObject({
      message: expect.stringContaining(message),
      extensions: { code: 'BAD_USER_INPUT' },
    })
  })
})
