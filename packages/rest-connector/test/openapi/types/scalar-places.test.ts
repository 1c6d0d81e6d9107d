import { createDisposables, startRestBackend, type RecordedRequest } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, useRestConnector } from '../../../src/index.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
const backend = cleanup.use(await startRestBackend(() => ({ json: {} })))

interface Scalar {
  readonly schema: object
  readonly type: string
  /** In a query, as variables have it, and on the wire as text and as JSON. */
  readonly literal: string
  readonly given: unknown
  readonly text: string
  readonly json: string
}

const bytes = Buffer.from([0, 255, 62, 63, 10])
const base64 = bytes.toString('base64')

const text = (type: string, schema: object, value: string): Scalar => ({
  schema: { type: 'string', ...schema },
  type,
  literal: JSON.stringify(value),
  given: value,
  text: value,
  json: JSON.stringify(value),
})

const scalars: Readonly<Record<string, Scalar>> = {
  Upload: text('Upload', { format: 'binary' }, base64),
  Base64: text('Base64', { format: 'byte' }, base64),
  Date: text('Date', { format: 'date' }, '2026-01-31'),
  DateTime: text('DateTime', { format: 'date-time' }, '2026-01-31T12:00:00+01:00'),
  UUID: text('UUID', { format: 'uuid' }, '2b6ae4e2-9a4c-4d4e-8f7b-0a5d3c9e1f00'),
  String: text('String', {}, 'a &=+%'),
  enum: {
    ...text('XV', { enum: ['in-progress', '+1'] }, 'in-progress'),
    literal: 'IN_PROGRESS',
    given: 'IN_PROGRESS',
  },
  'enum of integers': {
    schema: { type: 'integer', enum: [1, 2] },
    type: 'XV',
    literal: '_1',
    given: '_1',
    text: '1',
    json: '1',
  },
  Long: {
    schema: { type: 'integer', format: 'int64' },
    type: 'Long',
    literal: '"9007199254740993"',
    given: '9007199254740993',
    text: '9007199254740993',
    json: '9007199254740993',
  },
  Boolean: {
    schema: { type: 'boolean' },
    type: 'Boolean',
    literal: 'false',
    given: false,
    text: 'false',
    json: 'false',
  },
  Float: { schema: { type: 'number' }, type: 'Float', literal: '0', given: 0, text: '0', json: '0' },
}

interface Place {
  /** Members of the operation, and its argument around the value. */
  readonly operation: (schema: object) => object
  readonly wrap: (value: string) => string
  readonly path?: string
  readonly wire: (request: RecordedRequest) => string | undefined
  readonly expected: (scalar: Scalar) => string
}

const parameter =
  (place: string, name = 'v') =>
  (schema: object) => ({
    parameters: [{ name, in: place, required: true, schema }],
  })
const body = (type: string) => (schema: object) => ({
  requestBody: {
    required: true,
    content: { [type]: { schema: { type: 'object', properties: { v: schema } } } },
  },
})
const bare = (value: string): string => `v: ${value}`
const inInput = (value: string): string => `input: { v: ${value} }`

const places: Readonly<Record<string, Place>> = {
  path: {
    path: '/x/{v}',
    operation: parameter('path'),
    wrap: bare,
    wire: ({ rawUrl }) => decodeURIComponent(rawUrl.slice('/x/'.length)),
    expected: (scalar) => scalar.text,
  },
  query: {
    operation: parameter('query'),
    wrap: bare,
    wire: ({ url }) => url.searchParams.get('v') ?? undefined,
    expected: (scalar) => scalar.text,
  },
  header: {
    operation: parameter('header'),
    wrap: bare,
    wire: ({ headers }) => headers['v'] as string,
    expected: (scalar) => scalar.text,
  },
  cookie: {
    operation: parameter('cookie'),
    wrap: bare,
    wire: ({ headers }) => decodeURIComponent((headers['cookie'] ?? '').slice('v='.length)),
    expected: (scalar) => scalar.text,
  },
  JSON: {
    operation: body('application/json'),
    wrap: inInput,
    wire: (request) => request.body.toString(),
    expected: (scalar) => `{"v":${scalar.json}}`,
  },
  form: {
    operation: body('application/x-www-form-urlencoded'),
    wrap: inInput,
    wire: (request) => new URLSearchParams(request.body.toString()).get('v') ?? undefined,
    expected: (scalar) => scalar.text,
  },
  multipart: {
    operation: body('multipart/form-data'),
    wrap: inInput,
    wire: (request) => request.body.toString('latin1').split('\r\n').slice(1, -2).join('\n'),
    expected: (scalar) =>
      scalar.type === 'Upload'
        ? `content-disposition: form-data; name="v"; filename="file"\ncontent-type: application/octet-stream\n\n${bytes.toString('latin1')}`
        : `content-disposition: form-data; name="v"\n\n${Buffer.from(scalar.text).toString('latin1')}`,
  },
}

async function serve(operation: object, path = '/x') {
  const document = {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    paths: {
      [path]: { post: { operationId: 'x', responses: { 200: { description: 'ok' } }, ...operation } },
    },
  }
  const { findings, ...api } = await importOpenApi(document, { env: {}, baseUrl: backend.url })
  expect(findings).toEqual([])
  const connector = createRestConnector('api', { ...api, baseUrl: backend.url, noRetry: true })
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  return {
    connector,
    /** What was sent, and the errors. */
    async send(body: string | FormData): Promise<readonly [RecordedRequest | undefined, any]> {
      const before = backend.requests.length
      const response = await yoga.fetch('http://yoga/graphql', {
        method: 'POST',
        ...(typeof body === 'string' && { headers: { 'content-type': 'application/json' } }),
        body,
      })
      const { errors } = (await response.json()) as { errors?: unknown }
      return [backend.requests[before], errors]
    },
  }
}

function uploadOf(query: string, variables: object, place: string): FormData {
  const form = new FormData()
  form.set('operations', JSON.stringify({ query, variables }))
  form.set('map', JSON.stringify({ 0: [place] }))
  form.set('0', new File([bytes], 'a.bin', { type: 'image/x' }))
  return form
}

describe.each(Object.keys(scalars))('%s', (name) => {
  const scalar = scalars[name] as Scalar
  it.each(Object.keys(places))('in %s', async (where) => {
    const { operation, path, wrap, wire, expected } = places[where] as Place
    const { send, connector } = await serve(operation(scalar.schema), path)
    const type =
      scalar.type === 'XV' ? (where in { JSON: 1, form: 1, multipart: 1 } ? 'XInputV' : 'XV') : scalar.type
    const known = connector.schema.getType(type) ?? connector.schema.getType('XV')
    const bodies = [
      { query: `mutation { x(${wrap(scalar.literal)}) }` },
      { query: `mutation ($v: ${known?.name}!) { x(${wrap('$v')}) }`, variables: { v: scalar.given } },
    ]
    for (const one of bodies) {
      const [request, errors] = await send(JSON.stringify(one))
      expect(errors).toBeUndefined()
      expect(wire(request as RecordedRequest)).toBe(expected(scalar))
    }
    await connector.close()
  })
})

describe('Upload', () => {
  it.each(Object.keys(places))('that is no base64 is refused in %s', async (where) => {
    const { operation, path, wrap } = places[where] as Place
    const { send, connector } = await serve(operation((scalars['Upload'] as Scalar).schema), path)
    for (const given of ['"no base64"', '"%"', '"abcde"']) {
      const [request, errors] = await send(JSON.stringify({ query: `mutation { x(${wrap(given)}) }` }))
      expect([request, errors?.[0]?.message]).toEqual([undefined, expect.stringContaining('base64')])
    }
    const args = wrap('1') === bare('1') ? { v: 'no base64' } : { input: { v: 'no base64' } }
    await expect(connector.execute('x', args)).rejects.toMatchObject({
      extensions: { code: 'BAD_USER_INPUT' },
    })
    await connector.close()
  })

  const query = (where: string): string =>
    `mutation ($v: Upload!) { x(${(places[where] as Place).wrap('$v')}) }`

  it('as a file of a request is a part with its name and type', async () => {
    const { operation, wire } = places['multipart'] as Place
    const { send, connector } = await serve(operation((scalars['Upload'] as Scalar).schema))
    const [request] = await send(uploadOf(query('multipart'), { v: null }, 'variables.v'))
    expect(wire(request as RecordedRequest)).toBe(
      `content-disposition: form-data; name="v"; filename="a.bin"\ncontent-type: image/x\n\n${bytes.toString('latin1')}`,
    )
    await connector.close()
  })

  it.each(Object.keys(places).filter((where) => where !== 'multipart'))(
    'as a file of a request is refused in %s, where only text can be',
    async (where) => {
      const { operation, path } = places[where] as Place
      const { send, connector } = await serve(operation((scalars['Upload'] as Scalar).schema), path)
      const [request, errors] = await send(uploadOf(query(where), { v: null }, 'variables.v'))
      expect(errors?.[0]).toMatchObject({
        message: expect.stringContaining('Send the data as base64 text'),
        extensions: { code: 'BAD_USER_INPUT' },
      })
      expect(request).toBeUndefined()
      await connector.close()
    },
  )

  it.each([
    ['its bytes', { format: 'binary' }, bytes.toString('latin1')],
    ['base64 where the document says so', { format: 'byte' }, base64],
  ])('that is the body is %s', async (_what, schema, wanted) => {
    const content = { 'application/octet-stream': { schema: { type: 'string', ...schema } } }
    const { send, connector } = await serve({ requestBody: { required: true, content } })
    const query = 'mutation ($v: Upload!) { x(input: $v) }'
    for (const one of [
      JSON.stringify({ query, variables: { v: base64 } }),
      uploadOf(query, { v: null }, 'variables.v'),
    ]) {
      const [request, errors] = await send(one)
      expect([errors, request?.body.toString('latin1')]).toEqual([undefined, wanted])
    }
    await connector.close()
  })

  it('of a list is a part for each', async () => {
    const { send, connector } = await serve(
      body('multipart/form-data')({ type: 'array', items: { type: 'string', format: 'binary' } }),
    )
    const [request, errors] = await send(
      JSON.stringify({ query: 'mutation { x(input: { v: ["YQ==", "YWI="] }) }' }),
    )
    expect(errors).toBeUndefined()
    expect(
      request?.body.toString().match(/filename="file"\r\ncontent-type: \S+\r\n\r\nab?\r\n/g),
    ).toHaveLength(2)
    await connector.close()
  })
})

it('an Upload in templates is its base64 text', async () => {
  const args = { v: 'Upload!' }
  const connector = createRestConnector('api', {
    baseUrl: backend.url,
    endpoints: [
      {
        name: 'a',
        method: 'POST',
        path: '/x/{v}',
        queryParams: { q: 'q-{v}' },
        args,
        bodyTemplate: '{"v": "{v}", "w": {v}}',
      },
      { name: 'b', method: 'POST', path: '/x', args },
    ],
  })
  await connector.execute('a', { v: base64 })
  const { rawUrl, body } = backend.requests.at(-1) as RecordedRequest
  const escaped = encodeURIComponent(base64)
  expect([rawUrl, body.toString()]).toEqual([
    `/x/${escaped}?q=q-${escaped}`,
    `{"v": "${base64}", "w": "${base64}"}`,
  ])
  await connector.execute('b', { v: base64 })
  expect(backend.requests.at(-1)?.json()).toEqual({ v: base64 })
  await connector.close()
})
