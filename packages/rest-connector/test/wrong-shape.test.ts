import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const wrong = ['<html>', '', 7, false, [], [{ a: 1 }]]
const places: [string, (value: unknown) => unknown, string, (string | number)[]][] = [
  ['the answer', (value) => value, 'get { o { a } }', ['get']],
  ['a member', (value) => ({ o: value }), 'get { o { a } }', ['get', 'o']],
  ['an item', (value) => ({ l: [{ a: 1 }, value] }), 'get { l { a } }', ['get', 'l', 1]],
]

describe.each([true, false])('with plans %s, where an object is declared', (plans) => {
  it.each(places)('%s that is none is an error there', async (_, at, selection, path) => {
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
                method: kind === 'query' ? 'GET' : 'POST',
                responseSchema: {
                  typeName: 'T',
                  fields: { o: { type: 'O', fields: { a: 'int' } }, l: '[O]' },
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
  })
})
