import type { GraphQLSchema, ValidationRule } from 'graphql'
import { createSchema, createYoga, type Plugin, type YogaServerOptions } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useLiveQuery } from '../src/index.ts'

/** A run that followed the one before at once would never give this test its turn: after so many they stand still. */
const TOO_MANY = 50

interface World {
  runs: number
  value: string
}

function schemaOf(world: World): GraphQLSchema {
  return createSchema({
    typeDefs: 'type Query { hi: String }',
    resolvers: {
      Query: { hi: () => (++world.runs > TOO_MANY ? new Promise(() => {}) : world.value) },
    },
  })
}

function serverOf(options: Partial<YogaServerOptions<any, any>>) {
  const live = useLiveQuery({ defaults: { enabled: true } })
  onTestFinished(() => live.close())
  const yoga = createYoga({ logging: false, ...options, plugins: [live, ...(options.plugins ?? [])] })
  return { yoga, live }
}

type Yoga = ReturnType<typeof serverOf>['yoga']

async function open(yoga: Yoga, headers: Record<string, string> = {}): Promise<Response> {
  return yoga.fetch('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query: 'query @live { hi }' }),
  })
}

async function follow(yoga: Yoga, headers: Record<string, string> = {}) {
  const response = await open(yoga, headers)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  onTestFinished(() => void reader.cancel().catch(() => {}))
  let text = ''
  return async (): Promise<string> => {
    for (;;) {
      const found = /event: next\ndata:\s*(\{.*\})\n/.exec(text)
      if (found) {
        text = text.slice(found.index + found[0].length)
        return JSON.parse(found[1]!).data.hi as string
      }
      const { value, done } = await reader.read()
      if (done) throw new Error('The stream ended')
      text += value
    }
  }
}

async function ask(yoga: Yoga, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await yoga.fetch('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: '{ hi }' }),
  })
  return ((await response.json()) as { data: { hi: unknown } }).data.hi
}

async function turns(count = 100): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

type Way = (world: World) => Partial<YogaServerOptions<any, any>>

const ONE_SCHEMA: Record<string, Way> = {
  'a factory that gives one schema': (world) => {
    const schema = schemaOf(world)
    return { schema: () => schema }
  },
  'a promise of a schema': (world) => ({ schema: Promise.resolve(schemaOf(world)) }),
  'a plugin behind that sets one for each request': (world) => {
    const schema = schemaOf(world)
    return { plugins: [{ onEnveloped: ({ setSchema }: any) => setSchema(schema) }] }
  },
}

const WAYS: Record<string, Way> = {
  ...ONE_SCHEMA,
  'a factory that makes a schema each time': (world) => ({ schema: () => schemaOf(world) }),
  'two schemas in turn': (world) => {
    const schemas = [schemaOf(world), schemaOf(world)]
    let asked = 0
    return { schema: () => schemas[asked++ % 2]! }
  },
}

describe('a live query on a server whose schema comes with each request', () => {
  it.each(Object.entries(WAYS))('runs once where nothing happens: %s', async (_, way) => {
    const world = { runs: 0, value: 'one' }
    const { yoga } = serverOf(way(world))
    const next = await follow(yoga)
    expect(await next()).toBe('one')
    await turns()
    expect(world.runs).toBe(1)
  })

  it.each(Object.entries(WAYS))('runs once for an event: %s', async (_, way) => {
    const world = { runs: 0, value: 'one' }
    const { yoga, live } = serverOf(way(world))
    const next = await follow(yoga)
    expect(await next()).toBe('one')
    world.value = 'two'
    live.store.invalidate({ entityType: 'Any', operation: 'update' })
    live.store.invalidate('Query.hi')
    expect(await next()).toBe('two')
    await turns()
    expect(world.runs).toBeLessThanOrEqual(3)
  })

  it.each(Object.entries(ONE_SCHEMA))('validates a document once: %s', async (_, way) => {
    let validations = 0
    const rule: ValidationRule = () => {
      validations++
      return {}
    }
    const { plugins = [], ...options } = way({ runs: 0, value: 'one' })
    const counting: Plugin = { onValidate: ({ addValidationRule }) => addValidationRule(rule) }
    const { yoga } = serverOf({ ...options, plugins: [...plugins, counting] })
    for (let time = 0; time < 5; time++) expect(await ask(yoga)).toBe('one')
    expect(validations).toBe(1)
  })

  it('ends, with an error, under a schema that no longer has what it asks for', async () => {
    let current = schemaOf({ runs: 0, value: 'one' })
    const { yoga, live } = serverOf({ schema: () => current })
    const { body } = await open(yoga)
    let rest = ''
    for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
      const text = Buffer.from(bytes).toString()
      if (!text.includes('"hi":"one"')) rest += text
      else {
        current = createSchema({ typeDefs: 'type Query { bye: String }' })
        live.store.invalidate('Query.hi')
      }
    }
    expect(rest).toContain('Cannot query field')
    expect(rest).not.toContain('"data"')
    expect(rest).toMatch(/event: complete\s+data:\s*$/)
    expect(live.store.stats()).toMatchObject({ subscriptions: 0, groups: 0 })
  })

  it('runs again under another schema that a request brings, once', async () => {
    const [first, second] = [
      { runs: 0, value: 'one' },
      { runs: 0, value: 'two' },
    ]
    const schemas = [schemaOf(first), schemaOf(second)] as const
    let current: GraphQLSchema = schemas[0]
    const { yoga } = serverOf({ schema: () => current })
    const next = await follow(yoga)
    expect(await next()).toBe('one')
    current = schemas[1]
    expect(await ask(yoga)).toBe('two')
    expect(await next()).toBe('two')
    await turns()
    expect([first.runs, second.runs]).toEqual([1, 2])
  })

  it('runs again under another schema that is set outside of requests, one known before too', async () => {
    const [first, second] = [
      { runs: 0, value: 'one' },
      { runs: 0, value: 'two' },
    ]
    const schemas = [schemaOf(first), schemaOf(second)] as const
    let set: (schema: GraphQLSchema) => void = () => {}
    const { yoga } = serverOf({
      plugins: [
        {
          onPluginInit({ setSchema }: any) {
            set = setSchema
            setSchema(schemas[0])
          },
        },
      ],
    })
    const next = await follow(yoga)
    expect(await next()).toBe('one')
    set(schemas[1])
    expect(await next()).toBe('two')
    set(schemas[0])
    expect(await next()).toBe('one')
    await turns()
    expect([first.runs, second.runs]).toEqual([2, 1])
  })

  it('shares no execution between callers with different schemas', async () => {
    const worlds = { ann: { runs: 0, value: 'of ann' }, bob: { runs: 0, value: 'of bob' } }
    const schemas = { ann: schemaOf(worlds.ann), bob: schemaOf(worlds.bob) }
    const { yoga } = serverOf({
      schema: ({ request }) => schemas[request.headers.get('x-tenant') as 'ann'],
      plugins: [
        {
          // The other tenant's request comes by while the context of this one is built.
          async onContextBuilding({ context }: any) {
            if (context.request.headers.get('x-tenant') === 'ann') await turns(20)
          },
        },
      ],
    })
    const [ann, bob] = await Promise.all([
      follow(yoga, { 'x-tenant': 'ann' }),
      follow(yoga, { 'x-tenant': 'bob' }),
    ])
    expect(await bob()).toBe('of bob')
    expect(await ann()).toBe('of ann')
    await turns()
    expect([worlds.ann.runs, worlds.bob.runs]).toEqual([1, 1])
  })
})
