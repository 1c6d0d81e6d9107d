import * as zlib from 'node:zlib'
import { createDisposables, startRestBackend, type RestAnswer } from '@vinyasa/test-kit'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector } from '../../src/index.ts'
import { ACCEPTED_ENCODINGS } from '../../src/http/decode.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
const backend = cleanup.use(await startRestBackend())
const connector = cleanup.use(
  createRestConnector('c', {
    baseUrl: backend.url,
    endpoints: [
      { name: 'x', path: '/x' },
      { name: 'text', path: '/x', answer: 'text', returnType: 'String' },
    ],
    exposeErrors: true,
  }),
)

const value = { name: 'Ångström, 日本', n: 1 }

function answered(answer: RestAnswer, endpoint = 'x'): Promise<unknown> {
  backend.answerNext(answer)
  return connector.execute(endpoint)
}

describe('an answer in another charset than UTF-8 is read as what it says', () => {
  // Node writes these itself; the others are the bytes that iconv makes of them.
  const utf16 = (object: unknown): Buffer => Buffer.from(JSON.stringify(object), 'utf16le')
  it.each([
    ['application/json; charset=utf-16le', utf16(value), value],
    ['application/json;charset="UTF-16"', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(value)]), value],
    [
      'application/json; charset=iso-8859-1',
      Buffer.from('{"name":"Ångström"}', 'latin1'),
      { name: 'Ångström' },
    ],
    ['text/html; charset=windows-1251', Buffer.from([0xc4, 0xe0]), 'Да'],
    ['text/plain; charset=shift_jis', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['application/json; charset=utf8', Buffer.from(JSON.stringify(value)), value],
  ])('%s', async (contentType, body, expected) => {
    const answer = { headers: { 'content-type': contentType }, body }
    expect(await answered(answer)).toEqual(expected)
    const text = typeof expected === 'string' ? expected : JSON.stringify(expected)
    expect(await answered(answer, 'text')).toBe(text)
  })

  it('and one that nobody knows is an error that names it', async () => {
    const answer = { headers: { 'content-type': 'application/json; charset=klingon' }, body: '{}' }
    await expect(answered(answer)).rejects.toThrow('charset "klingon" is not supported')
  })
})

describe('an answer in any content encoding that Node has is decoded', () => {
  const plain = Buffer.from(JSON.stringify(value))
  const codings: Record<string, ((body: Buffer) => Buffer) | undefined> = {
    gzip: zlib.gzipSync,
    deflate: zlib.deflateSync,
    'deflate without the wrapper': zlib.deflateRawSync,
    br: zlib.brotliCompressSync,
    zstd: (zlib as { zstdCompressSync?: (body: Buffer) => Buffer }).zstdCompressSync,
    'gzip, br': (body) => zlib.brotliCompressSync(zlib.gzipSync(body)),
    'identity, gzip': zlib.gzipSync,
  }
  const known = Object.entries(codings).filter(([, encode]) => encode !== undefined)

  it.each(known)('%s', async (name, encode) => {
    const headers = {
      'content-type': 'application/json',
      'content-encoding': name.split(' without')[0] as string,
    }
    expect(await answered({ headers, body: encode?.(plain) as Buffer })).toEqual(value)
  })

  it('asks for those that it decodes, and for zstd where Node has it', async () => {
    await answered({ json: 1 })
    const asked = backend.requests.at(-1)?.headers['accept-encoding']
    expect(asked).toBe(ACCEPTED_ENCODINGS)
    expect(String(asked).split(', ').toSorted()).toEqual([
      'br',
      'deflate',
      'gzip',
      ...(codings['zstd'] ? ['zstd'] : []),
    ])
  })

  it('refuses what is encoded more often than any server does, and what is damaged', async () => {
    const often = { 'content-type': 'application/json', 'content-encoding': 'gzip, gzip, gzip, gzip' }
    await expect(answered({ headers: often, body: plain })).rejects.toThrow('has 4 content encodings')
    for (const coding of ['gzip', 'deflate', 'br'])
      await expect(
        answered({ headers: { 'content-type': 'application/json', 'content-encoding': coding }, body: 'no' }),
      ).rejects.toThrow(`the ${coding} body is invalid`)
  })
})
