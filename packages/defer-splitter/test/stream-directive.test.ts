import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { createTestServer } from './support/server.ts'

// The specification: field-level streaming is unsupported. `@stream` is accepted, and its list comes whole.

const users = [{ id: '1' }, null, { id: '2' }]
const streamed = '{ users @stream(initialCount: 1, label: "s") { id } }'
const both = '{ users @stream(initialCount: 1) { id ... @defer(label: "d") { bio } } }'
const bios = [
  { data: { bio: 'first' }, path: ['users', 0], label: 'd' },
  { data: { bio: 'second' }, path: ['users', 2], label: 'd' },
]
const stored: Plugin = { onParams: ({ setResult }) => setResult({ data: { users } }) }

describe.each(['auto', 'streaming', 'eager'] as const)('@stream, strategy %s', (strategy) => {
  const server = createTestServer({ options: { strategy } })

  it.each([
    ['/graphql', 'application/json'],
    ['/graphql', 'multipart/mixed, application/json'],
    ['/graphql', 'multipart/mixed;deferSpec=20220824, application/json'],
    ['/graphql', 'multipart/mixed;incrementalSpec=v0.2, */*;q=0.1'],
    ['/graphql', 'text/event-stream, application/json'],
    ['/graphql/defer', '*/*'],
  ])('alone, POST %s, Accept: %s: one JSON answer with the whole list', async (path, accept) => {
    const response = await server.post(streamed, { path, accept })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/(graphql-response\+)?json/)
    expect(await response.json()).toEqual({ data: { users } })
  })

  it('beside @defer, the whole list is in the first part', async () => {
    const [first, ...later] = await server.parts(both)
    expect(first).toEqual({ data: { users }, hasNext: true })
    expect(later.flatMap(({ incremental }) => incremental ?? [])).toEqual(bios)
  })

  it('beside @defer, in the pending format', async () => {
    const [first, ...later] = await server.parts(both, { accept: 'multipart/mixed;incrementalSpec=v0.2' })
    expect(first).toEqual({
      data: { users },
      pending: [
        { id: '0', path: ['users', 0], label: 'd' },
        { id: '1', path: ['users', 2], label: 'd' },
      ],
      hasNext: true,
    })
    expect(later.flatMap(({ incremental }) => incremental ?? [])).toEqual([
      { id: '0', data: { bio: 'first' } },
      { id: '1', data: { bio: 'second' } },
    ])
  })

  it('beside @defer, for a client that wants JSON', async () => {
    const response = await server.post(both, { accept: 'application/json' })
    expect(await response.json()).toEqual({
      data: { users: [{ id: '1', bio: 'first' }, null, { id: '2', bio: 'second' }] },
    })
  })

  it('in a stored answer, is as it was stored', async () => {
    const cached = createTestServer({ options: { strategy }, before: [stored] })
    const response = await cached.post(streamed, { accept: 'multipart/mixed, application/json' })
    expect(await response.json()).toEqual({ data: { users } })
  })
})
