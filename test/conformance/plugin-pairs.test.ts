import { createInvalidationBus } from '@vinyasa/invalidation'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useLiveQuery } from '@vinyasa/live-query'
import { useResponseCache } from '@vinyasa/response-cache'
import { createSchema, createYoga } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'

// Each behaviour works without the others, and together in any order.

type Name = 'cache' | 'defer' | 'live'

const NAMES: readonly Name[] = ['cache', 'defer', 'live']

function permutations(names: readonly Name[]): Name[][] {
  if (names.length === 0) return [[]]
  return names.flatMap((name) =>
    permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
  )
}

/** Every subset of the names in every order: 16 lists. */
function arrangements(): Name[][] {
  const subsets = NAMES.reduce<Name[][]>(
    (sets, name) => [...sets, ...sets.map((set) => [...set, name])],
    [[]],
  )
  return subsets.flatMap(permutations)
}

interface World {
  ask(query: string, accept?: string): Promise<{ cache: string | null; text: string }>
  executions: number
}

function start(names: readonly Name[]): World {
  const bus = createInvalidationBus()
  let name = 'Ada'
  const world: World = {
    executions: 0,
    async ask(query, accept = 'application/json') {
      const response = await yoga.fetch('http://localhost/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query }),
      })
      return { cache: response.headers.get('x-cache'), text: await response.text() }
    },
  }
  const live = useLiveQuery({ bus, fields: { user: {} } })
  const plugins = {
    cache: useResponseCache({ bus }),
    defer: useDeferSplitter(),
    live,
  }
  const yoga = createYoga({
    logging: false,
    schema: createSchema({
      typeDefs: `type User { id: ID! name: String! }
                 type Query { user: User }
                 type Mutation { rename(name: String!): User }`,
      resolvers: {
        Query: {
          user: () => {
            world.executions++
            return { id: '1', name }
          },
        },
        Mutation: {
          rename: async (_: unknown, args: { name: string }) => {
            name = args.name
            await bus.publish([{ entityType: 'User', operation: 'update', entityId: '1' }])
            return { id: '1', name }
          },
        },
      },
    }),
    plugins: names.map((plugin) => plugins[plugin]),
  })
  onTestFinished(() => live.close())
  return world
}

/** What a client holds in the end: the one result, or the parts put together. */
function finalData(text: string): unknown {
  const results = [...text.matchAll(/^\{.*\}$/gm)].map(([json]) => JSON.parse(json))
  const data = results[0].data
  for (const patch of results.flatMap((part) => part.incremental ?? [])) {
    const target = patch.path.reduce((value: any, key: string) => value[key], data)
    Object.assign(target, patch.data)
  }
  return data
}

const PLAIN = '{ user { id name } }'
const DEFERRED = '{ user { id ... @defer { name } } }'

describe.each(arrangements().map((names) => [names.join(' → ') || 'none', names] as const))(
  'plugins: %s',
  (_, names) => {
    const has = (name: Name): boolean => names.includes(name)

    it('a query is answered, and cached where the cache is on', async () => {
      const world = start(names)
      const first = await world.ask(PLAIN)
      const second = await world.ask(PLAIN)
      expect(finalData(first.text)).toEqual({ user: { id: '1', name: 'Ada' } })
      expect(second.text).toBe(first.text)
      expect([first.cache, second.cache]).toEqual(has('cache') ? ['MISS', 'HIT'] : [null, null])
      expect(world.executions).toBe(has('cache') ? 1 : 2)
    })

    it('a mutation is seen by the next query', async () => {
      const world = start(names)
      await world.ask(PLAIN)
      await world.ask('mutation { rename(name: "Grace") { name } }')
      expect(finalData((await world.ask(PLAIN)).text)).toEqual({ user: { id: '1', name: 'Grace' } })
    })

    it.runIf(has('defer'))('a deferred query comes in parts that make the whole, twice', async () => {
      const world = start(names)
      for (const cache of ['MISS', 'HIT']) {
        const answer = await world.ask(DEFERRED, 'multipart/mixed')
        expect(answer.text).toContain('"hasNext":true')
        expect(finalData(answer.text)).toEqual({ user: { id: '1', name: 'Ada' } })
        expect(answer.cache).toBe(has('cache') ? cache : null)
      }
    })

    it.runIf(has('live'))(
      'a live query over plain HTTP is answered once, with what is true now',
      async () => {
        const world = start(names)
        await world.ask(PLAIN)
        await world.ask('mutation { rename(name: "Grace") { name } }')
        const answer = await world.ask(`query @live ${PLAIN}`)
        expect(finalData(answer.text)).toEqual({ user: { id: '1', name: 'Grace' } })
      },
    )
  },
)
