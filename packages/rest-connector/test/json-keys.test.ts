import { startRestBackend } from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../src/index.ts'

const KEYS = [
  { a: 1, b: [2] },
  { b: [2], a: 1 },
  { a: 2 },
  [1, 2],
  '[1,2]',
  '{"a":2}',
  7,
  '7',
  null,
  true,
  'true',
]

it.each([true, false])('joins rows by JSON keys that are equal, with plans: %s', async (isPlanned) => {
  // Each row tells which keys it was made for.
  const texts = [...new Set(['{"a":1,"b":[2]}', '{"a":2}', '[1,2]', '"[1,2]"', '"{\\"a\\":2}"', '7', 'true'])]
  await using backend = await startRestBackend(({ url }) =>
    url.pathname === '/rows'
      ? { json: texts.map((text) => ({ key: JSON.parse(text), text })) }
      : { json: KEYS.map((key) => ({ key })) },
  )
  const connector = createRestConnector('keys', {
    baseUrl: backend.url,
    plans: isPlanned,
    endpoints: [
      {
        name: 'parents',
        path: '/parents',
        returnType: '[Parent!]',
        responseSchema: { typeName: 'Parent', fields: { key: 'json' } },
      },
      {
        name: 'rows',
        path: '/rows',
        method: 'POST',
        asQuery: true,
        args: { keys: '[JSON!]' },
        returnType: '[Row!]',
        responseSchema: { typeName: 'Row', fields: { key: 'json', text: 'string' } },
        on: { type: 'Parent', field: 'row', args: { keys: '{key}' }, batch: { key: 'key' } },
      },
    ],
  })
  const yoga = createYoga({ logging: false, plugins: [useRestConnector(connector) as Plugin] })
  const response = await yoga.fetch('http://x/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ parents { key row { text } } }' }),
  })
  const { data, errors } = await response.json()
  expect(errors).toBeUndefined()
  expect(data.parents.map(({ row }: { row: { text: string } | null }) => row?.text ?? null)).toEqual([
    '{"a":1,"b":[2]}',
    '{"a":1,"b":[2]}',
    '{"a":2}',
    '[1,2]',
    '"[1,2]"',
    '"{\\"a\\":2}"',
    '7',
    '7',
    null,
    'true',
    'true',
  ])
})
