import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

/** Texts of JSON that a scalar cannot represent. */
const wrong: readonly (readonly [string, readonly string[]])[] = [
  ['boolean', ['"true"', '"x"']],
  ['int', ['3.5', '1e400', '"x"', '3000000000']],
  ['float', ['1e400', '"x"']],
  ['long', ['3.5', '"x"', '99999999999999999999']],
  ['id', ['3.5', 'true']],
]
const rows = wrong.flatMap(([type, values]) => values.map((value) => ({ type, value })))

describe.each([true, false])('with plans %s', (plans) => {
  async function ask(type: string, answer: string): Promise<any> {
    const backend = cleanup.use(
      await startRestBackend(() => ({ headers: { 'content-type': 'application/json' }, body: answer })),
    )
    const connector = cleanup.use(
      createRestConnector('c', {
        baseUrl: backend.url,
        plans,
        endpoints: [
          { name: 'get', path: '/', responseSchema: { typeName: 'T', fields: { v: type, l: `[${type}]` } } },
        ],
      }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    const response = await yoga.fetch('http://test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ get { v l } }' }),
    })
    return await response.json()
  }

  it.each(rows)('$value for $type is an error of the backend at its place', async ({ type, value }) => {
    const { data, errors } = await ask(type, `{"v":${value},"l":[null,${value}]}`)
    expect(data).toEqual({ get: { v: null, l: [null, null] } })
    expect(errors.map(({ path }: any) => path)).toEqual([
      ['get', 'v'],
      ['get', 'l', 1],
    ])
    for (const { message, extensions } of errors) {
      expect(extensions.code).toBe('REST_BAD_RESPONSE')
      expect(message).toMatch(
        /^The upstream sent (a|an) \w+ for T\.[vl] that \w+ cannot represent\.$|^T\.[vl].* declare the field as long\.$/,
      )
    }
  })

  it('what a scalar converts is converted', async () => {
    const { data, errors } = await ask('int', '{"v":"12","l":[1,"2",true,null]}')
    expect(errors).toBeUndefined()
    expect(data).toEqual({ get: { v: 12, l: [1, 2, 1, null] } })
  })
})
