import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useResponseCache } from '@vinyasa/response-cache'
import { createSchema, createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'

// Decided: one entry serves the query with and without @defer. Splitting a hit is the splitter's work.

const plain = '{ users { id bio } }'
const deferred = '{ users { id ... @defer(label: "bio") { bio } } }'
const whole = {
  users: [
    { id: '1', bio: 'first' },
    { id: '2', bio: 'second' },
  ],
}

interface World {
  ask(query: string, accept: string, path?: string): Promise<{ cache: string | null; parts: any[] }>
  executions: number
  fails: boolean
}

/** Adds extensions to results, and to each part of those that come in parts. */
const extending: Plugin = {
  onExecute: () => ({
    onExecuteDone({ result, setResult }) {
      const extensions = { trace: 'mine' }
      if (!isAsyncIterable(result)) return setResult({ ...result, extensions })
      return { onNext: (part) => part.setResult({ ...part.result, extensions }) }
    },
  }),
}

function start(order: 'cache first' | 'defer first', others: readonly Plugin[] = []): World {
  const world: World = {
    executions: 0,
    fails: false,
    async ask(query, accept, path = '/graphql') {
      const response = await yoga.fetch(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query }),
      })
      const bodies = (await response.text()).matchAll(/^\{.*\}$/gm)
      return { cache: response.headers.get('x-cache'), parts: [...bodies].map(([body]) => JSON.parse(body)) }
    },
  }
  const plugins = [useResponseCache({}), useDeferSplitter()]
  const yoga = createYoga({
    logging: false,
    schema: createSchema({
      typeDefs: 'type User { id: ID! bio: String } type Query { users: [User!]! }',
      resolvers: {
        Query: {
          users: () => {
            world.executions++
            return whole.users
          },
        },
        User: {
          bio: async ({ bio }: { bio: string }) => {
            if (world.fails) throw new Error('no bio')
            return bio
          },
        },
      },
    }),
    plugins: [...(order === 'cache first' ? plugins : plugins.reverse()), ...others],
  })
  return world
}

const initial = { data: { users: [{ id: '1' }, { id: '2' }] }, hasNext: true }
const patches = [
  { data: { bio: 'first' }, path: ['users', 0], label: 'bio' },
  { data: { bio: 'second' }, path: ['users', 1], label: 'bio' },
]

describe.each(['cache first', 'defer first'] as const)(
  'the real cache beside the real splitter, %s',
  (order) => {
    it('an answer that was stored whole is split for whoever defers, in the format asked for', async () => {
      const world = start(order)
      await world.ask(plain, 'application/json')
      for (const [accept, path] of [
        ['multipart/mixed', '/graphql'],
        ['multipart/mixed;deferSpec=20220824', '/graphql'],
        ['*/*', '/graphql/defer'],
      ] as const) {
        const hit = await world.ask(deferred, accept, path)
        expect(hit).toEqual({ cache: 'HIT', parts: [initial, { incremental: patches, hasNext: false }] })
      }
      const modern = await world.ask(deferred, 'multipart/mixed;incrementalSpec=v0.2')
      expect(modern.cache).toBe('HIT')
      expect(modern.parts[0].pending).toHaveLength(2)
      expect(modern.parts[1].incremental.map(({ data }: any) => data)).toEqual(
        patches.map(({ data }) => data),
      )
      expect(world.executions).toBe(1)
    })

    it('an answer that was streamed is stored, and serves the query without @defer', async () => {
      const world = start(order)
      const miss = await world.ask(deferred, 'multipart/mixed')
      expect(miss.cache).toBe('MISS')
      expect(miss.parts[0]).toEqual(initial)
      const hit = await world.ask(plain, 'application/json')
      expect(hit).toEqual({ cache: 'HIT', parts: [{ data: whole }] })
      expect(world.executions).toBe(1)
    })

    it('an answer to whose parts a plugin adds extensions is stored without them', async () => {
      const world = start(order, [extending])
      const miss = await world.ask(deferred, 'multipart/mixed')
      expect(JSON.stringify(miss.parts)).toContain('"trace":"mine"')
      for (const query of [deferred, plain]) {
        const hit = await world.ask(query, 'multipart/mixed, application/json')
        expect(hit.cache).toBe('HIT')
        expect(JSON.stringify(hit.parts)).not.toContain('trace')
      }
      expect(world.executions).toBe(1)
    })

    it('an answer with an error in a patch is not stored', async () => {
      const world = start(order)
      world.fails = true
      const failed = await world.ask(deferred, 'multipart/mixed')
      expect(JSON.stringify(failed.parts)).toContain('Unexpected error.')
      world.fails = false
      const next = await world.ask(deferred, 'multipart/mixed')
      expect(next.cache).toBe('MISS')
      expect(next.parts.flatMap((part) => part.incremental ?? [])).toEqual(patches)
    })
  },
)
