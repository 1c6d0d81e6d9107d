import { expect, it } from 'vitest'
import type { ResponseCacheOptions } from '../src/index.ts'
import { ask, createWorld, type Ask } from './kit.ts'

const users = '{ users { id } }'
const rows: readonly [reason: string | null, query: string, options: ResponseCacheOptions, Ask?][] = [
  [null, users, {}],
  [
    'the operation is not a query, is a live query, or was not executed',
    'mutation { renameUser(id: "1", name: "x") { id } }',
    {},
  ],
  ['the operation is an introspection query', '{ __schema { queryType { name } } }', {}],
  ['the TTL of the response is 0', users, { defaultTtlMs: 0 }],
  ['the TTL of the response is 0', users, { ttlMsBySchemaCoordinate: { User: 0 } }],
  [
    'option enabled returned false or an invalid value, or reads request properties such as headers from the context instead of context.request',
    users,
    { enabled: () => false },
  ],
  [
    'option session returned an invalid value, or reads request properties such as headers from the context instead of context.request',
    users,
    { session: () => ({}) as never, onEvent: () => {} },
  ],
  ['the request has a cookie, which is not part of the cache key', users, {}, { headers: { cookie: 'a=1' } }],
  ['code reads authorization', '{ me { name } }', { varyHeaders: [], onEvent: () => {} }],
  ['the operation is not a query, is a live query, or was not executed', '{ nothing }', {}],
]

it.each(rows)('x-cache-reason is %j', async (reason, query, options, given) => {
  for (const exposeReasons of [true, false]) {
    const { headers } = await ask(createWorld({ cache: { ...options, exposeReasons } }), query, given)
    expect(headers.get('x-cache-reason')).toBe(exposeReasons ? reason : null)
  }
})
