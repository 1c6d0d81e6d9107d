import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useLiveQuery } from '@vinyasa/live-query'
import { useResponseCache } from '@vinyasa/response-cache'
import { useSources, type Source } from '@vinyasa/source-kit'
import { GraphQLSchema, GraphQLString, type ValidationRule } from 'graphql'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it, vi } from 'vitest'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'

// A server may set its schema for each request. What a plugin makes of one schema is one schema: whatever is derived of
// it, validation first of all, is derived once.

const own: Source = {
  id: 'own',
  fields: [{ parent: 'Query', name: 'added', type: GraphQLString, origin: 'the test', resolve: () => 'yes' }],
}

const PLUGINS: Readonly<Record<string, () => Plugin>> = {
  live: () => useLiveQuery({ defaults: { enabled: true } }),
  defer: () => useDeferSplitter(),
  sources: () => useSources(own) as Plugin,
  cache: () => useResponseCache({ enabled: () => false }),
}

function orders(names: readonly string[]): string[][] {
  if (names.length === 0) return [[]]
  return names.flatMap((name) =>
    orders(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
  )
}

/** Counts whole validations, and schemas that operations were executed with. */
function createWatch() {
  const schemas = new Set<unknown>()
  let validations = 0
  const rule: ValidationRule = () => {
    validations++
    return {}
  }
  const plugin: Plugin = {
    onValidate: ({ addValidationRule }) => addValidationRule(rule),
    onExecute: ({ args }) => void schemas.add(args.schema),
  }
  return { plugin, seen: () => ({ schemas: schemas.size, validations }) }
}

async function ask(yoga: { fetch: (url: string, init: object) => Response | Promise<Response> }) {
  const response = await yoga.fetch('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ hi }' }),
  })
  return response.json()
}

const schema = createSchema({
  typeDefs: 'type Query { hi: String }',
  resolvers: { Query: { hi: () => 'hi' } },
})

const SETTINGS: Readonly<Record<string, (plugins: Plugin[]) => Parameters<typeof createYoga>[0]>> = {
  'a factory': (plugins) => ({ schema: () => schema, plugins }),
  'a plugin in front': (plugins) => ({
    plugins: [{ onEnveloped: ({ setSchema }: any) => setSchema(schema) }, ...plugins],
  }),
  'a plugin behind': (plugins) => ({
    plugins: [...plugins, { onEnveloped: ({ setSchema }: any) => setSchema(schema) }],
  }),
}

const lists = [...Object.keys(PLUGINS).map((name) => [name]), ...orders(Object.keys(PLUGINS))]

describe('one schema, set for each request, stays one schema', () => {
  it.each(Object.entries(SETTINGS))(
    '%s, with every plugin alone and with all in any order',
    async (_, set) => {
      for (const names of lists) {
        const watch = createWatch()
        const made = names.map((name) => PLUGINS[name]!())
        const yoga = createYoga({ logging: false, ...set([...made, watch.plugin]) })
        for (let time = 0; time < 4; time++) await expect(ask(yoga)).resolves.toEqual({ data: { hi: 'hi' } })
        expect([names, watch.seen()]).toEqual([names, { schemas: 1, validations: 1 }])
        await yoga.dispose()
      }
    },
  )

  it.each(Object.entries(SETTINGS))('%s: later requests look at no part of it', async (_, set) => {
    for (const names of lists) {
      const yoga = createYoga({ logging: false, ...set(names.map((name) => PLUGINS[name]!())) })
      await ask(yoga)
      // Whoever validates, rebuilds or walks through a schema begins with these.
      const looks = (['getTypeMap', 'getDirectives', 'toConfig'] as const).map((method) =>
        vi.spyOn(GraphQLSchema.prototype, method),
      )
      for (let time = 0; time < 3; time++) await expect(ask(yoga)).resolves.toEqual({ data: { hi: 'hi' } })
      const counts = looks.map(({ mock }) => mock.calls.length)
      vi.restoreAllMocks()
      expect([names, ...counts]).toEqual([names, 0, 0, 0])
      await yoga.dispose()
    }
  })

  it('the gateway sets no schema while it serves', async () => {
    const changes: unknown[] = []
    const watching: Plugin & { readsHeaders: string[] } = {
      readsHeaders: [],
      onSchemaChange: ({ schema: set }) => void changes.push(set),
    }
    const gateway = await createGateway(
      {
        typeDefs: 'type Query { hi: String }',
        resolvers: { Query: { hi: () => 'hi' } },
        liveQuery: { defaults: { enabled: true } },
        defer: {},
        responseCache: {},
        plugins: [watching],
      },
      { baseDirectory: '/', logger: await createLogger({ level: 'silent' }) },
    )
    const before = changes.length
    const fetch = (url: string, init: object) => gateway.fetch(new Request(url, init))
    for (let time = 0; time < 4; time++)
      await expect(ask({ fetch })).resolves.toMatchObject({ data: { hi: 'hi' } })
    expect(changes).toHaveLength(before)
    await gateway.close()
  })
})

describe('a schema for each tenant, whose resolvers read other data', () => {
  const schemas = new Map(
    ['ada', 'eve'].map((tenant) => [
      tenant,
      createSchema({
        typeDefs: 'type Query { hi: String }',
        resolvers: { Query: { hi: () => `hi ${tenant}` } },
      }),
    ]),
  )
  const headerOf = ({ request }: { readonly request: Request }): string =>
    request.headers.get('x-tenant') ?? ''

  it.each([
    ['varyHeaders', { varyHeaders: ['x-tenant'] }],
    ['session', { session: (context: object) => headerOf(context as never) }],
  ])('has answers of its own where %s names what chose it', async (_, options) => {
    const yoga = createYoga({
      logging: false,
      schema: (context: any) => schemas.get(headerOf(context))!,
      plugins: [useResponseCache(options)],
    })
    const asked = async (tenant: string) => {
      const response = await yoga.fetch('http://localhost/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tenant': tenant },
        body: JSON.stringify({ query: '{ hi }' }),
      })
      const { data } = (await response.json()) as { readonly data: { readonly hi: string } }
      return [response.headers.get('x-cache'), data.hi]
    }
    for (const tenant of ['ada', 'eve']) {
      expect(await asked(tenant)).toEqual(['MISS', `hi ${tenant}`])
      expect(await asked(tenant)).toEqual(['HIT', `hi ${tenant}`])
    }
    expect(await asked('ada')).toEqual(['HIT', 'hi ada'])
    await yoga.dispose()
  })
})
