import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, describeFinding, importOpenApi, useRestConnector } from '../../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const string = { type: 'string' }
const json = (schema: object): object => ({ content: { 'application/json': { schema } } })
const target = {
  operationId: 'find',
  parameters: [{ name: 'q', in: 'query', schema: string }],
  responses: { 200: { description: 'ok', ...json({ type: 'object', properties: { seen: string } }) } },
}

/** An API whose answers have a link with one parameter. */
const documentOf = (expression: unknown, more: object = {}): object => ({
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths: {
    '/things/{thing-id}/{part}?fixed=yes': {
      post: {
        operationId: 'make',
        parameters: [
          { name: 'thing-id', in: 'path', required: true, schema: string },
          { name: 'X-Shop', in: 'header', schema: string },
          { name: 'page', in: 'query', schema: { type: 'integer', default: 3 } },
          { name: 'sid', in: 'cookie', schema: string },
        ],
        requestBody: json({
          type: 'object',
          properties: {
            'shop-name': string,
            lines: {
              type: 'array',
              items: { type: 'object', properties: { 'unit.price': { type: 'number' } } },
            },
            rest: {},
            list: { type: 'object', additionalProperties: string },
          },
        }),
        responses: {
          201: {
            description: 'ok',
            ...json({
              type: 'object',
              properties: { 'a/b': { type: 'object', properties: { id: { type: 'integer' } } } },
            }),
            links: { found: { operationId: 'find', parameters: { q: expression }, ...more } },
          },
        },
      },
    },
    '/find': { get: target },
  },
})

async function ask(expression: unknown): Promise<unknown> {
  const asked: string[] = []
  const backend = cleanup.use(
    await startRestBackend(({ url, method }) => {
      if (method === 'GET') asked.push(url.searchParams.get('q') ?? 'nothing')
      return method === 'GET'
        ? { json: { seen: 'yes' } }
        : { status: 201, json: { 'a/b': { id: 7 } }, headers: { location: '/l' } }
    }),
  )
  const imported = await importOpenApi(documentOf(expression), { env: {}, links: true })
  expect(imported.findings.filter(({ place }) => place !== '#/servers')).toEqual([])
  const connector = cleanup.use(createRestConnector('c', { ...imported, baseUrl: `${backend.url}` }))
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: `mutation { make(thingId: "t 1", part: "p", xShop: "s", sid: "c",
        input: { shopName: "n", lines: [{ unitPrice: 1.5 }], rest: { a: [2] } }) { found { seen } } }`,
    }),
  })
  expect(await response.json()).toEqual({ data: { make: { found: { seen: 'yes' } } } })
  return asked[0]?.replace(backend.url, '<url>')
}

describe('what a link gives to the operation that it leads to', () => {
  it.each([
    ['text', 'text'],
    ['US$ 5', 'US$ 5'],
    ['{nothing}', '{nothing}'],
    ['$method', 'POST'],
    ['$statusCode', '201'],
    ['$url', '<url>/things/t%201/p?fixed=yes&page=3'],
    ['$response.body#/a~1b/id', '7'],
    ['$response.header.Location', '/l'],
    ['$request.path.thing-id', 't 1'],
    ['$request.path.part', 'p'],
    ['$request.header.x-shop', 's'],
    ['$request.query.page', '3'],
    ['$request.query.fixed', 'yes'],
    ['$request.cookie.sid', 'c'],
    ['$request.body#/shop-name', 'n'],
    ['$request.body#/lines/0/unit.price', '1.5'],
    ['$request.body#/rest/a/0', '2'],
    ['{$response.body#/a~1b/id}', '7'],
    ['/things/{$response.body#/a~1b/id}', '/things/7'],
    ['{$method} {$request.path.thing-id}/{$statusCode}', 'POST t 1/201'],
    ['{$method}-{$request.query.fixed}', 'POST-yes'],
  ])('%s is %s', async (expression, value) => {
    expect(await ask(expression)).toBe(value)
  })

  it.each([
    ['$request.header.accept', '"$request.header.accept" is not a supported runtime expression'],
    ['$request.path.nobody', 'is not a supported runtime expression'],
    ['$request.query.nobody', 'is not a supported runtime expression'],
    ['$request.body#/nobody', 'is not a supported runtime expression'],
    ['$request.body#/list/a', 'is not a supported runtime expression'],
    ['$what', 'is not a supported runtime expression'],
    ['/a/{$request.query.nobody}', 'is not a supported runtime expression'],
    [{ a: '$response.body#/id' }, 'contains runtime expressions'],
  ])('%s is told, as nobody knows it', async (expression, reason) => {
    const { findings, endpoints } = await importOpenApi(documentOf(expression), { env: {}, links: true })
    expect(
      findings.map(describeFinding).filter((line) => line.includes('the link "found" is skipped')),
    ).toEqual([expect.stringContaining(reason)])
    expect(endpoints[0]?.envelope?.links).toEqual({})
  })

  it.each([
    [{ server: { url: 'https://other.example' } }, 'the link has its own server, which is not supported'],
    [
      { requestBody: '$response.body' },
      'the link sends a requestBody, but the linked operation does not accept a body',
    ],
  ])('%j is told', async (more, reason) => {
    const { findings } = await importOpenApi(documentOf('a', more), { env: {}, links: true })
    expect(findings.some(({ message }) => message.includes(reason))).toBe(true)
  })
})
