import { mapSchema, MapperKind } from '@graphql-tools/utils'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useLiveQuery } from '@vinyasa/live-query'
import { useResponseCache } from '@vinyasa/response-cache'
import { mergeSources, useSources, type Source } from '@vinyasa/source-kit'
import { defaultFieldResolver, GraphQLString, type GraphQLSchema } from 'graphql'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'

// Plugins that wrap resolvers are told of each schema, also of one that another plugin has made of theirs. They know it by a
// mark of their own, a symbol in the schema's extensions, as `@envelop/graphql-middleware` does.

function createWrapper(): { plugin: Plugin; counts: Record<string, number> } {
  const mark = Symbol('wrapped')
  const counts: Record<string, number> = {}
  function wrap(schema: GraphQLSchema): GraphQLSchema {
    return mapSchema(schema, {
      [MapperKind.OBJECT_FIELD]({ resolve = defaultFieldResolver, ...field }, name) {
        return {
          ...field,
          resolve(...args) {
            counts[name] = (counts[name] ?? 0) + 1
            return resolve(...args)
          },
        }
      },
    })
  }
  const plugin: Plugin = {
    onSchemaChange({ schema, replaceSchema }) {
      if ((schema.extensions as Record<symbol, unknown>)[mark]) return
      const wrapped = wrap(schema)
      wrapped.extensions = { ...schema.extensions, [mark]: true }
      replaceSchema(wrapped)
    },
  }
  return { plugin, counts }
}

const own: Source = {
  id: 'own',
  fields: [{ parent: 'Query', name: 'added', type: GraphQLString, origin: 'the test', resolve: () => 'yes' }],
}

const PLUGINS: Readonly<Record<string, () => Plugin>> = {
  live: () => useLiveQuery({ defaults: { enabled: true } }),
  defer: () => useDeferSplitter(),
  cache: () => useResponseCache({ enabled: () => false }),
  sources: () => useSources(own) as Plugin,
}

function orders(names: readonly string[]): string[][] {
  if (names.length === 0) return [[]]
  return names.flatMap((name) =>
    orders(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
  )
}

const schema = createSchema({
  typeDefs: 'type Query { hi: String }',
  resolvers: { Query: { hi: () => 'hi' } },
})

async function ask(
  { fetch }: { fetch: (request: Request) => Response | Promise<Response> },
  query: string,
): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ query })
  const response = await fetch(new Request('http://localhost/graphql', { method: 'POST', headers, body }))
  return response.json()
}

const behaviours = orders(['live', 'defer', 'cache', 'wrapper'])

describe('a plugin that wraps resolvers and marks the schema wraps each resolver once', () => {
  it.each(behaviours.map((names) => [names]))('%j', async (names) => {
    const { plugin, counts } = createWrapper()
    const plugins = names.map((name) => PLUGINS[name]?.() ?? plugin)
    const yoga = createYoga({ logging: false, schema, plugins })
    await expect(ask(yoga, '{ hi }')).resolves.toEqual({ data: { hi: 'hi' } })
    expect(counts).toEqual({ hi: 1 })
    await yoga.dispose()
  })

  it.each(orders(['live', 'defer', 'sources', 'wrapper']).map((names) => [names]))(
    'what sources bring too, in front of it and behind: %j',
    async (names) => {
      const { plugin, counts } = createWrapper()
      const plugins = names.map((name) => PLUGINS[name]?.() ?? plugin)
      const yoga = createYoga({ logging: false, schema, plugins })
      await expect(ask(yoga, '{ hi added }')).resolves.toEqual({ data: { hi: 'hi', added: 'yes' } })
      // Sources behind it make a schema with more fields of one that is wrapped: all of it is wrapped, some again.
      const isBehind = names.indexOf('sources') > names.indexOf('wrapper')
      expect(counts).toEqual({ hi: isBehind ? 2 : 1, added: 1 })
      await yoga.dispose()
    },
  )

  it('a schema to which sources add fields has no mark, however it was set', () => {
    const mark = Symbol('wrapped')
    const base = createSchema({ typeDefs: 'type Query { hi: String }' })
    Object.assign(base.extensions, { [mark]: true, named: 'stays' })
    const { extensions } = mergeSources(base, [own]).schema
    expect([Object.getOwnPropertySymbols(extensions), extensions['named']]).toEqual([[], 'stays'])
  })

  it('in the gateway', async () => {
    const { plugin, counts } = createWrapper()
    const gateway = await createGateway(
      {
        typeDefs: 'type Query { hi: String }',
        resolvers: { Query: { hi: () => 'hi' } },
        liveQuery: { defaults: { enabled: true } },
        defer: {},
        plugins: [plugin],
      },
      { baseDirectory: '/', logger: await createLogger({ level: 'silent' }) },
    )
    await expect(ask(gateway, '{ hi }')).resolves.toMatchObject({ data: { hi: 'hi' } })
    expect(counts).toEqual({ hi: 1 })
    await gateway.close()
  })
})
