import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterAll, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, useRestConnector } from '../../src/index.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
const backend = cleanup.use(await startRestBackend(() => ({ json: { ok: true } })))

const ok = { type: 'object', properties: { ok: { type: 'boolean' } } }
const responses = { 200: { description: 'ok', content: { 'application/json': { schema: ok } } } }

/** The body that the backend receives for `input`, which is written as a literal or as a variable. */
async function sent(schema: object, input: object, contentType = 'application/json', openapi = '3.1.0') {
  const content = { [contentType]: { schema } }
  const imported = await importOpenApi(
    {
      openapi,
      info: { title: 't', version: '1' },
      paths: {
        '/x': { post: { operationId: 'x', responses, requestBody: { required: true, content } } },
      },
      components: { schemas: { Node: NODE, Base: BASE } },
    },
    { baseUrl: backend.url, env: {} },
  )
  const connector = createRestConnector('c', { ...imported, baseUrl: backend.url })
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
  const { type = '' } = (imported.endpoints[0]?.args?.['input'] ?? {}) as { type?: string }
  const given = async (query: string, variables?: object): Promise<string> => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    expect(await response.json()).toEqual({ data: { x: { ok: true } } })
    return String(backend.requests.at(-1)?.body)
  }
  const literal = JSON.stringify(input).replaceAll(/"(\w+)":/g, '$1:')
  const bodies = [
    await given(`mutation { x(input: ${literal}) { ok } }`),
    await given(`mutation ($input: ${type}) { x(input: $input) { ok } }`, { input }),
  ]
  await connector.close()
  expect(bodies[1]).toBe(bodies[0])
  return bodies[0] ?? ''
}

const text = { type: 'string' }
const orNull = { type: ['string', 'null'] }
const NODE = {
  type: 'object',
  required: ['name', 'parent'],
  properties: { name: text, parent: { anyOf: [{ $ref: '#/components/schemas/Node' }, { type: 'null' }] } },
}
const BASE = { type: 'object', properties: { note: orNull } }

const object = (required: readonly string[], properties: object) => ({ type: 'object', required, properties })

it.each([
  ['a list of types', object(['a', 'b'], { a: text, b: orNull }), { a: '1' }, { a: '1', b: null }],
  ['a choice with null', object(['b'], { a: text, b: { oneOf: [text, { type: 'null' }] } }), {}, { b: null }],
  ['an enum with null', object(['b'], { a: text, b: { enum: ['x', null] } }), {}, { b: null }],
  ['a name of its own', object(['b-c'], { a: text, 'b-c': orNull }), {}, { 'b-c': null }],
  ['a list', object(['b'], { b: { type: ['array', 'null'], items: text } }), {}, { b: null }],
  [
    'objects in a list',
    object([], { list: { type: 'array', items: object(['b'], { a: text, b: orNull }) } }),
    { list: [{ a: '1' }, {}, { b: '2' }] },
    { list: [{ a: '1', b: null }, { b: null }, { b: '2' }] },
  ],
  [
    'a reference to itself',
    { $ref: '#/components/schemas/Node' },
    { name: 'n' },
    { name: 'n', parent: null },
  ],
  [
    'what allOf requires of a base',
    { allOf: [{ $ref: '#/components/schemas/Base' }, { type: 'object', required: ['note'] }] },
    {},
    { note: null },
  ],
  ['not what is not required', object(['a'], { a: text, b: orNull }), { a: '1' }, { a: '1' }],
  [
    'not what only answers have',
    object(['a', 'b'], { a: text, b: { ...orNull, readOnly: true } }),
    { a: '1' },
    { a: '1' },
  ],
  ['not over a value', object(['b'], { b: orNull }), { b: 'x' }, { b: 'x' }],
] as const)('sends null for a required property that is left out: %s', async (_, schema, input, body) => {
  expect(JSON.parse(await sent(schema, input))).toEqual(body)
})

it('reads nullable of OpenAPI 3.0', async () => {
  const schema = object(['a', 'b'], { a: text, b: { ...text, nullable: true } })
  expect(JSON.parse(await sent(schema, { a: '1' }, 'application/json', '3.0.3'))).toEqual({ a: '1', b: null })
})

it('leaves it out of forms, which have no null', async () => {
  const schema = object(['a', 'b'], { a: text, b: orNull })
  expect(await sent(schema, { a: '1' }, 'application/x-www-form-urlencoded')).toBe('a=1')
})
