import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector, type RestEndpoint } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

type Place = readonly [string, (value: unknown) => unknown, string, (string | number)[], string?]

const noObjects: readonly unknown[] = ['<html>', '', 7, false, [], [{ a: 1 }]]
const objects: readonly Place[] = [
  ['the answer', (value) => value, 'get { o { a } }', ['get']],
  ['a member', (value) => ({ o: value }), 'get { o { a } }', ['get', 'o']],
  ['an item', (value) => ({ l: [{ a: 1 }, value] }), 'get { l { a } }', ['get', 'l', 1]],
]

// One object is no list of one, unless `listOfOne` says by what an item is known: it might be an error in a success.
const noLists: readonly unknown[] = [{ a: 1 }, {}, '<html>', '', 7, false]
const lists: readonly Place[] = [
  ['the answer', (value) => value, 'get { l { a } }', ['get'], '[T]'],
  ['the answer, of a list that is never null', (value) => value, 'get { l { a } }', ['get'], '[T!]'],
  ['a member', (value) => ({ l: value }), 'get { l { a } }', ['get', 'l']],
  ['a member of an item', (value) => ({ l: [{ m: value }] }), 'get { l { m { a } } }', ['get', 'l', 0, 'm']],
  ['a list of texts', (value) => ({ s: value }), 'get { s }', ['get', 's']],
  ['a list of JSON', (value) => ({ j: value }), 'get { j }', ['get', 'j']],
  [
    'a list of numbers in an item',
    (value) => ({ l: [{ n: value }] }),
    'get { l { n } }',
    ['get', 'l', 0, 'n'],
  ],
  ['a list of lists', (value) => ({ ll: [[{ a: 1 }], value] }), 'get { ll { a } }', ['get', 'll', 1]],
]
const rows = [
  ...objects.map((place) => ({ declared: 'an object', wrong: noObjects, what: place[0], place })),
  ...lists.map((place) => ({ declared: 'a list', wrong: noLists, what: place[0], place })),
]

describe.each([true, false])('with plans %s', (plans) => {
  it.each(rows)(
    'where $declared is declared, $what that is none is an error there',
    async ({ wrong, place }) => {
      const [, at, selection, path, returnType] = place
      for (const value of wrong)
        for (const kind of ['query', 'mutation'] as const) {
          const backend = cleanup.use(await startRestBackend(() => ({ json: at(value) as object })))
          const connector = cleanup.use(
            createRestConnector('c', {
              baseUrl: backend.url,
              plans,
              endpoints: [
                {
                  name: 'get',
                  path: '/',
                  ...(returnType !== undefined && { returnType }),
                  method: kind === 'query' ? 'GET' : 'POST',
                  responseSchema: {
                    typeName: 'T',
                    fields: {
                      o: { type: 'O', fields: { a: 'int', m: '[O]', n: '[Int!]' } },
                      l: '[O]',
                      ll: '[[O]]',
                      s: '[String]',
                      j: '[JSON]',
                    },
                  },
                },
              ],
            }),
          )
          const yoga = createYoga({
            plugins: [useRestConnector(connector)],
            logging: false,
            maskedErrors: false,
          })
          const response = await yoga.fetch('http://yoga/graphql', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ query: `${kind} { ${selection} }` }),
          })
          const { errors } = (await response.json()) as { errors?: any[] }
          expect(errors).toHaveLength(1)
          expect(errors?.[0]).toMatchObject({ path, extensions: { code: 'REST_BAD_RESPONSE' } })
        }
    },
  )
})

describe.each([true, false])(
  'with plans %s, an answer that is one object and has the members of listOfOne',
  (plans) => {
    const endpoint = { name: 'get', path: '/', returnType: '[T]', listOfOne: ['id'] }
    async function asked(one: Partial<RestEndpoint>, document: string, answer: object): Promise<any> {
      const backend = cleanup.use(await startRestBackend(() => ({ json: answer })))
      const connector = cleanup.use(
        createRestConnector('c', {
          baseUrl: backend.url,
          plans,
          types: { T: { kind: 'object', fields: { id: { type: 'ID!' }, key: { type: 'ID' } } } },
          endpoints: [
            { ...endpoint, ...one },
            { name: 'one', path: '/', returnType: 'T' },
          ],
        }),
      )
      const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
      const response = await yoga.fetch('http://yoga/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: document }),
      })
      return response.json()
    }

    it.each<[string, Partial<RestEndpoint>, string, object]>([
      ['of a query', {}, '{ get { id } }', { id: 1 }],
      ['of a mutation', { method: 'POST' }, 'mutation { get { id } }', { id: 1 }],
      ['at a path', { responsePath: '$.found' }, '{ get { id } }', { found: { id: 1 } }],
      ['in an envelope', { envelope: { headers: ['x-total'] } }, '{ get { body { id } } }', { id: 1 }],
    ])('%s is a list of one', async (_, one, document, answer) => {
      const { data, errors } = await asked(one, document, answer)
      const get = [{ id: '1' }]
      expect([errors, data]).toEqual([undefined, { get: one.envelope ? { body: get } : get }])
    })

    it('is a list of one in a batch of joined objects', async () => {
      const on = { type: 'T', field: 'self', args: { ids: '{id}' }, batch: { key: 'id' } }
      const joined = { args: { ids: '[ID!]' }, queryParams: { ids: '{ids}' }, on }
      expect(await asked(joined, '{ one { self { id } } }', { id: 1 })).toEqual({
        data: { one: { self: { id: '1' } } },
      })
    })

    it('is an error without one of them', async () => {
      const { errors } = await asked({ listOfOne: ['id', 'key'] }, '{ get { id } }', { id: 1 })
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'REST_BAD_RESPONSE' })
    })
  },
)

it('listOfOne is refused where the answer is no list', () => {
  const endpoints = [{ name: 'get', path: '/', returnType: 'JSON', listOfOne: ['id'] }]
  expect(() => createRestConnector('c', { baseUrl: 'http://host', endpoints })).toThrow(
    /listOfOne.*applies only to lists, but returnType is JSON/,
  )
})
