import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { createDisposables, startRestBackend, type RecordedRequest } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createYoga } from 'graphql-yoga'
import { parse } from 'qs'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../../src/index.ts'
import type { BodyOptions } from '../../src/bodies/body-options.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
const backend = cleanup.use(await startRestBackend())

async function sentFor(body: BodyOptions, input: unknown, type = 'JSON'): Promise<RecordedRequest> {
  const connector = createRestConnector('c', {
    baseUrl: backend.url,
    endpoints: [{ name: 'x', method: 'POST', path: '/x', args: { input: type }, body }],
  })
  await connector.execute('x', { input })
  await connector.close()
  return backend.requests.at(-1) as RecordedRequest
}

const file = (text: string, name: string, type = 'text/css') => new File([text], name, { type })

describe('JSON', () => {
  it.each([
    'application/json',
    'application/vnd.api+json',
    'application/merge-patch+json',
    'application/json; charset=utf-8',
  ])('%s', async (contentType) => {
    const input = { a: null, b: [1, 12345678901234567890n], c: { 'd-e': 'é' } }
    const { headers, body } = await sentFor({ contentType }, input)
    expect(headers['content-type']).toBe(contentType)
    expect(String(body)).toBe('{"a":null,"b":[1,12345678901234567890],"c":{"d-e":"é"}}')
  })

  it('is what a server takes that takes anything', async () => {
    const { headers, json } = await sentFor({ contentType: '*/*' }, { a: 1 })
    expect(headers['content-type']).toBe('application/json')
    expect(json()).toEqual({ a: 1 })
  })
})

it.each([
  'application/json',
  '*/*',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
  'image/png',
])('sends neither body nor content type for an absent argument: %s', async (contentType) => {
  for (const input of [undefined, null]) {
    const { headers, body } = await sentFor({ contentType }, input)
    expect(headers['content-type']).toBeUndefined()
    expect(body).toHaveLength(0)
  }
})

describe('a form', () => {
  const contentType = 'application/x-www-form-urlencoded'

  it('writes each property as its encoding says', async () => {
    const encoding = {
      deep: { style: 'deepObject', explode: true },
      joined: { explode: false },
      json: { contentType: 'application/json' },
    } as const
    const input = {
      plain: 'a b&c=d',
      list: [1, 2],
      object: { a: [true] },
      deep: { a: { b: ['x', 'y'] }, items: [{ price: 'p' }] },
      joined: ['a,b', 'c'],
      json: ['q'],
      none: null,
    }
    const { headers, body } = await sentFor({ contentType, encoding }, input)
    expect(headers['content-type']).toBe(contentType)
    expect(decodeURIComponent(String(body).replaceAll('+', ' ')).split('&deep')[0]).toBe(
      'plain=a b&c=d&list=1&list=2&object={"a":[true]}',
    )
    expect(String(body)).toContain('&joined=a%2Cb,c&json=%5B%22q%22%5D')
    expect(parse(String(body))).toMatchObject({ deep: { a: { b: ['x', 'y'] }, items: [{ price: 'p' }] } })
  })

  it('has what was given, however deep, for the reader of such servers', async () => {
    const text = fc.string({ unit: 'grapheme' })
    const deep = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, text, tie('object'), fc.array(text, { minLength: 1 })),
      object: fc.dictionary(fc.string({ minLength: 1, unit: fc.constantFrom(...'ab=&+ é') }), tie('value'), {
        minKeys: 1,
        maxKeys: 3,
        noNullPrototype: true,
      }),
    })).object
    await fc.assert(
      fc.asyncProperty(deep, async (metadata) => {
        const encoding = { metadata: { style: 'deepObject', explode: true } } as const
        const { body } = await sentFor({ contentType, encoding }, { metadata })
        expect(parse(String(body), { depth: 20, arrayLimit: 100 })).toEqual({ metadata })
      }),
      { numRuns: 30 },
    )
  })

  it('refuses what is no object', async () => {
    await expect(sentFor({ contentType }, 'text')).rejects.toThrow('Argument "input" must be an object')
  })
})

interface Part {
  readonly name: string
  readonly type: string
  readonly filename?: string
  readonly text: string
}

function partsOf({ headers, body }: RecordedRequest): Promise<Part[]> {
  return new Promise((resolve, reject) => {
    const parts: Part[] = []
    const parser = new Busboy({ headers: headers as { 'content-type': string } })
    parser.on('field', (name, text, _, __, ___, type) => parts.push({ name, type, text }))
    parser.on('file', (name, stream: Readable, filename, _, type) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => parts.push({ name, type, filename, text: String(Buffer.concat(chunks)) }))
    })
    parser.on('finish', () => resolve(parts))
    parser.on('error', reject)
    parser.end(body)
  })
}

describe('multipart', () => {
  const contentType = 'multipart/form-data'

  it('has a part for each member and item, files with their names and types', async () => {
    const input = {
      note: 'é',
      sizes: [1, 2],
      meta: { a: [1] },
      cover: file('body{}', 'a "b".css'),
      pages: [file('1', '1.txt', 'text/plain'), file('2', '2.txt', 'bad\r\ntype')],
      typed: file('x', 'x.bin', ''),
      none: null,
    }
    const encoding = { typed: { contentType: 'image/png' }, cover: { contentType: 'image/png, image/jpeg' } }
    const request = await sentFor({ contentType, encoding }, input)
    expect(request.headers['content-length']).toBe(String(request.body.length))
    const fields = 'text/plain'
    expect(
      (await partsOf(request)).map(({ name, type, filename, text }) => [name, type, filename, text]),
    ).toEqual([
      ['note', fields, undefined, 'é'],
      ['sizes', fields, undefined, '1'],
      ['sizes', fields, undefined, '2'],
      ['meta', 'application/json', undefined, '{"a":[1]}'],
      ['cover', 'text/css', 'a %22b%22.css', 'body{}'],
      ['pages', 'text/plain', '1.txt', '1'],
      ['pages', 'application/octet-stream', '2.txt', '2'],
      ['typed', 'image/png', 'x.bin', 'x'],
    ])
  })

  it('is sent again with all its bytes where another attempt is due', async () => {
    const from = backend.requests.length
    backend.answerNext({ status: 503, headers: { 'retry-after': '0' } })
    await sentFor({ contentType }, { cover: file('body{}', 'a.css') })
    const [first, second] = backend.requests.slice(from)
    expect(String(first?.body)).toContain('body{}')
    expect(second?.body).toEqual(first?.body)
  })

  it('is not sent again where a file can be read once, by a retry or a redirect', async () => {
    const once = { name: 'a', isOnce: true, stream: () => file('x', 'a').stream() }
    for (const answer of [{ status: 503 }, { status: 307, headers: { location: '/y' } }]) {
      const from = backend.requests.length
      backend.answerNext(answer)
      await expect(sentFor({ contentType }, { once })).rejects.toThrow('The upstream')
      expect(backend.requests.slice(from)).toHaveLength(1)
    }
  })
})

it('sends text as it is, and bytes of files and of base64', async () => {
  const text = await sentFor({ contentType: 'text/csv' }, 'a,b\né', 'String')
  expect([String(text.body), text.headers['content-type']]).toEqual(['a,b\né', 'text/csv'])
  const bytes = await sentFor({ contentType: 'application/pdf' }, file('%PDF', 'a.pdf'), 'Upload')
  expect([String(bytes.body), bytes.headers['content-type']]).toEqual(['%PDF', 'application/pdf'])
  expect(String((await sentFor({ contentType: 'image/png' }, 'JVBERg==', 'Upload')).body)).toBe('%PDF')
  await expect(sentFor({ contentType: 'image/png' }, '%', 'Upload')).rejects.toThrow(
    'a file of a multipart request',
  )
})

it('takes files of a multipart request through Yoga, under the name that grpc-source has for them', async () => {
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      endpoints: [
        {
          name: 'send',
          method: 'POST',
          path: '/files/{folder}',
          args: { input: 'Upload!' },
          body: { contentType: 'application/octet-stream' },
        },
      ],
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
  const form = new FormData()
  const query = 'mutation ($file: Upload!) { send(folder: "a b", input: $file) }'
  form.set('operations', JSON.stringify({ query, variables: { file: null } }))
  form.set('map', JSON.stringify({ 0: ['variables.file'] }))
  form.set('0', file('bytes', 'a.bin'))
  const response = await yoga.fetch('http://yoga/graphql', { method: 'POST', body: form })
  expect(await response.json()).toEqual({ data: { send: {} } })
  const { rawUrl, headers, body } = backend.requests.at(-1) as RecordedRequest
  expect([rawUrl, headers['content-type'], String(body)]).toEqual([
    '/files/a%20b',
    'application/octet-stream',
    'bytes',
  ])
})

it('refuses a body where none can be, two of them, and what is no media type', () => {
  const create = (endpoint: object) => () =>
    createRestConnector('c', { baseUrl: 'http://x', endpoints: [{ name: 'x', path: '/', ...endpoint }] })
  expect(create({ body: {} })).toThrow('a GET request cannot have a body; remove body')
  expect(create({ method: 'POST', body: {}, bodyTemplate: '{}' })).toThrow('cannot be combined')
  expect(create({ method: 'POST', body: { contentType: 'image/*' } })).toThrow('is not a valid media type')
  expect(create({ method: 'POST', body: {}, args: { other: 'ID' } })).toThrow(
    'argument "other" is declared, but',
  )
})
