import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { introspectionFromSchema, printSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { expect, it, onTestFinished } from 'vitest'
import { createRestConnector, useRestConnector } from '../src/index.ts'

async function serve(args: Readonly<Record<string, { type: string; default: unknown }>>) {
  const cleanup = createDisposables(onTestFinished)
  const backend = cleanup.use(await startRestBackend((request) => ({ json: request.json() })))
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      endpoints: [{ name: 'find', path: '/find', method: 'POST', asQuery: true, args }],
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
  async function ask(query: string): Promise<unknown> {
    const body = JSON.stringify({ query })
    const headers = { 'content-type': 'application/json' }
    return (await yoga.fetch('http://yoga/graphql', { method: 'POST', headers, body })).json()
  }
  return { connector, ask }
}

it.each([
  ['JSON', { size: 2, tags: ['a'] }],
  ['JSON!', [1, { a: null }]],
  ['[JSON!]!', [{ a: 1 }]],
])(
  'a default of %s that GraphQL has no literal for is sent, and told in the description',
  async (type, value) => {
    const { connector, ask } = await serve({ filter: { type, default: value } })
    expect(introspectionFromSchema(connector.schema)).toBeDefined()
    const sdl = printSchema(connector.schema)
    expect(sdl).toContain(`filter: ${type.replace(/!$/, '')}\n`)
    expect(sdl).toContain(`Default: \`${JSON.stringify(value)}\`.`)
    expect(await ask('{ find }')).toEqual({ data: { find: { filter: value } } })
    expect(await ask('{ find(filter: [3]) }')).toEqual({ data: { find: { filter: [3] } } })
  },
)

it('any other default is in the schema', async () => {
  const { connector, ask } = await serve({
    any: { type: 'JSON', default: 'x' },
    some: { type: '[JSON]', default: [1, 'x'] },
    long: { type: 'Long!', default: '9007199254740993' },
  })
  expect(printSchema(connector.schema)).toContain(
    'find(any: JSON = "x", some: [JSON] = [1, "x"], long: Long! = "9007199254740993"): JSON',
  )
  expect(await ask('{ find }')).toMatchObject({ data: { find: { any: 'x', some: [1, 'x'] } } })
})

it('a call without GraphQL sends the defaults, too', async () => {
  const { connector } = await serve({
    limit: { type: 'Int!', default: 10 },
    filter: { type: 'JSON', default: { a: 1 } },
    sort: { type: 'String', default: 'up' },
  })
  expect(await connector.execute('find')).toEqual({ limit: 10, filter: { a: 1 }, sort: 'up' })
  expect(await connector.execute('find', { limit: 2, sort: null })).toEqual({
    limit: 2,
    filter: { a: 1 },
    sort: null,
  })
})
