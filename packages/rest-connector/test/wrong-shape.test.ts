import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

type Place = readonly [string, (value: unknown) => unknown, string, (string | number)[], string?]

const noObjects: readonly unknown[] = ['<html>', '', 7, false, [], [{ a: 1 }]]
const objects: readonly Place[] = [
  ['the answer', (value) => value, 'get { o { a } }', ['get']],
  ['a member', (value) => ({ o: value }), 'get { o { a } }', ['get', 'o']],
  ['an item', (value) => ({ l: [{ a: 1 }, value] }), 'get { l { a } }', ['get', 'l', 1]],
]

// One object is no list of one: which it is depends on the answer, and a client could not tell it from a list.
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
