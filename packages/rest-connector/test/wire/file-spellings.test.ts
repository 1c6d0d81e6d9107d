import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { createDisposables, startRestBackend, type RecordedRequest } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, useRestConnector } from '../../src/index.ts'

// How documents spell a file, in each place that one can have: the API receives the bytes, or a finding names the place.

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
const backend = cleanup.use(await startRestBackend(() => ({ json: { ok: true } })))

const BYTES = Buffer.from([0xff, 0xfe, 0, 13, 10, 0x80, 65])
const string = { type: 'string' }
const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } }

interface Spelling {
  /** What the API expects in its place: the bytes, or their base64 text. Of JSON always the text. */
  readonly wants: 'bytes' | 'text'
  readonly schema: object
}

const SPELLINGS: readonly Spelling[] = [
  { wants: 'bytes', schema: { ...string, format: 'binary' } },
  { wants: 'bytes', schema: { type: ['string', 'null'], format: 'binary' } },
  { wants: 'bytes', schema: { ...string, contentMediaType: 'application/octet-stream' } },
  { wants: 'bytes', schema: { ...string, contentMediaType: 'image/png' } },
  { wants: 'bytes', schema: { ...string, contentMediaType: 'Application/PDF; version=1' } },
  { wants: 'bytes', schema: { contentMediaType: 'image/png' } },
  { wants: 'bytes', schema: { type: ['string', 'null'], contentMediaType: 'audio/mpeg' } },
  { wants: 'bytes', schema: { anyOf: [{ ...string, contentMediaType: 'video/mp4' }, { type: 'null' }] } },
  { wants: 'bytes', schema: { $ref: '#/components/schemas/Photo' } },
  { wants: 'bytes', schema: { ...string, contentMediaType: 'application/zip', contentEncoding: 'binary' } },
  { wants: 'bytes', schema: { ...string, contentMediaType: 'image/png', contentEncoding: '8bit' } },
  { wants: 'text', schema: { ...string, format: 'byte' } },
  { wants: 'text', schema: { ...string, format: 'base64' } },
  { wants: 'text', schema: { ...string, contentEncoding: 'base64' } },
  { wants: 'text', schema: { ...string, contentMediaType: 'image/png', contentEncoding: 'base64' } },
  {
    wants: 'text',
    schema: { ...string, contentMediaType: 'application/octet-stream', contentEncoding: 'base64' },
  },
  { wants: 'text', schema: { ...string, contentMediaType: 'image/png', contentEncoding: 'base64url' } },
]

async function serve(content: object) {
  const { findings, ...imported } = await importOpenApi(
    {
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: { '/x': { post: { operationId: 'x', responses, requestBody: { required: true, content } } } },
      components: { schemas: { Photo: { ...string, contentMediaType: 'image/jpeg' } } },
    },
    { env: {} },
  )
  const connector = cleanup.use(createRestConnector('c', { ...imported, baseUrl: backend.url }))
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  const { type: ofInput = '' } = (imported.endpoints[0]?.args?.['input'] ?? {}) as { type?: string }
  /** The type of the field of the input, without its marks. */
  const [name = ''] = /\w+/.exec(ofInput) ?? []
  const input = imported.types[name]
  const ofField = input?.kind === 'input' ? (input.fields['file']?.type ?? '') : ofInput
  const isUpload = /\bUpload\b/.test(ofField)

  /** Sends an input with base64 text, or with a file of a multipart request if the type takes one. */
  async function send(wrap: (file: unknown) => unknown, isFile: boolean): Promise<RecordedRequest> {
    const query = `mutation ($input: ${ofInput}) { x(input: $input) }`
    const headers = { 'content-type': 'application/json' }
    let body: string | FormData
    if (isFile) {
      body = new FormData()
      body.set('operations', JSON.stringify({ query, variables: { input: wrap(null) } }))
      const [path = ''] = pathsOfNull(wrap(null))
      body.set('map', JSON.stringify({ 0: [`variables.input${path}`] }))
      body.set('0', new File([BYTES], 'cat.png', { type: 'image/png' }))
    } else body = JSON.stringify({ query, variables: { input: wrap(BYTES.toString('base64')) } })
    const before = backend.requests.length
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      body,
      ...(!isFile && { headers }),
    })
    expect(await response.json()).toEqual({ data: { x: { ok: true } } })
    expect(backend.requests).toHaveLength(before + 1)
    return backend.requests.at(-1) as RecordedRequest
  }
  return { findings, isUpload, send }
}

function pathsOfNull(value: unknown): readonly string[] {
  if (value === null) return ['']
  return Object.entries(value as object).flatMap(([key, inner]) =>
    typeof inner === 'object' ? pathsOfNull(inner).map((path) => `.${key}${path}`) : [],
  )
}

interface Part {
  readonly bytes: Buffer
  readonly filename?: string
}

async function partOf({ headers, body }: RecordedRequest): Promise<Part> {
  const parser = new Busboy({ headers: headers as { 'content-type': string } })
  const parts: Part[] = []
  parser.on('field', (_, text) => parts.push({ bytes: Buffer.from(text) }))
  parser.on('file', (_, stream: Readable, filename: string) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => parts.push({ bytes: Buffer.concat(chunks), filename }))
  })
  await new Promise((resolve, reject) => {
    parser.on('finish', resolve)
    parser.on('error', reject)
    parser.end(body)
  })
  return parts[0] as Part
}

const object = (file: object) => ({ type: 'object', properties: { name: string, file } })
const base64 = BYTES.toString('base64')

describe.each(SPELLINGS)('a file that is $schema', ({ wants, schema }) => {
  it.each([
    ['multipart', schema, (file: unknown) => ({ file })],
    ['a list in multipart', { type: 'array', items: schema }, (file: unknown) => ({ file: [file] })],
  ])('is a part in %s', async (_, property, wrap) => {
    const { findings, isUpload, send } = await serve({ 'multipart/form-data': { schema: object(property) } })
    expect([isUpload, findings]).toEqual([wants === 'bytes', []])
    const part = await partOf(await send(wrap, false))
    expect(part).toEqual(
      wants === 'bytes' ? { bytes: BYTES, filename: 'file' } : { bytes: Buffer.from(base64) },
    )
    const file = isUpload ? await partOf(await send(wrap, true)) : undefined
    expect(file).toEqual(wants === 'bytes' ? { bytes: BYTES, filename: 'cat.png' } : undefined)
  })

  it('is base64 text in JSON', async () => {
    const { findings, send } = await serve({ 'application/json': { schema: object(schema) } })
    expect(findings).toEqual([])
    expect((await send((file) => ({ file }), false)).json()).toEqual({ file: base64 })
  })

  it('is a whole body, or a finding', async () => {
    const { findings, isUpload, send } = await serve({ 'image/png': { schema } })
    expect(isUpload).toBe(true)
    const isTold = JSON.stringify(schema).includes('base64url')
    expect(findings.map(({ message }) => message.includes('base64url'))).toEqual(isTold ? [true] : [])
    for (const isFile of [true, false]) {
      const { body } = await send((file) => file, isFile)
      expect(body).toEqual(wants === 'bytes' || isTold ? BYTES : Buffer.from(base64))
    }
  })
})

it.each([{}, string, { type: 'array', items: {} }])(
  'is a finding if only the encoding of a part says so: %j',
  async (schema) => {
    const { findings } = await serve({
      'multipart/form-data': {
        schema: object(schema),
        encoding: { file: { contentType: 'image/png, image/jpeg' }, name: { contentType: 'text/plain' } },
      },
    })
    expect(findings).toMatchObject([{ message: expect.stringContaining('part "file"') }])
  },
)

it.each(['text/csv', 'application/json', 'application/vnd.api+json', 'application/jwt', 'image/svg+xml'])(
  'is text of the media type %s, in a part and in JSON',
  async (contentMediaType) => {
    const schema = object({ ...string, contentMediaType })
    const text = '{"a":1}'
    const parts = await serve({ 'multipart/form-data': { schema } })
    expect((await partOf(await parts.send(() => ({ file: text }), false))).bytes.toString()).toBe(text)
    const json = await serve({ 'application/json': { schema } })
    expect((await json.send(() => ({ file: text }), false)).json()).toEqual({ file: text })
    expect([...parts.findings, ...json.findings]).toEqual([])
  },
)

it('is a part where Swagger 2 says file', async () => {
  const imported = await importOpenApi(
    {
      swagger: '2.0',
      info: { title: 't', version: '1' },
      paths: {
        '/x': {
          post: {
            operationId: 'x',
            responses: { 200: { description: 'ok' } },
            parameters: [{ name: 'file', in: 'formData', type: 'file', required: true }],
          },
        },
      },
    },
    { env: {} },
  )
  const connector = cleanup.use(createRestConnector('c', { ...imported, baseUrl: backend.url }))
  await connector.execute('x', { input: { file: base64 } })
  expect(await partOf(backend.requests.at(-1) as RecordedRequest)).toEqual({ bytes: BYTES, filename: 'file' })
})
