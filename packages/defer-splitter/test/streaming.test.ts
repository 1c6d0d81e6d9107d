import { makeExecutableSchema } from '@graphql-tools/schema'
import { createDisposables, requestMultipart, waitUntil } from '@vinyasa/test-kit'
import { yogasExecutor } from '@vinyasa/core'
import { GraphQLError, GraphQLScalarType } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from './support/listen.ts'
import { createTestServer, type ServerInit } from './support/server.ts'

const typeDefs = /* GraphQL */ `
  type Query {
    fast: String
    slow(ms: Int!): String
    busy(ms: Int!): String
    thing: Thing
    things(count: Int!): [Thing]
    feed: [Thing]
  }
  type Thing {
    id: ID
    name: String
    slow(ms: Int!): String
    busy(ms: Int!): String
    part: Thing
    required: String!
  }
`

function createCountingServer(init: Omit<ServerInit, 'schema'> = {}) {
  const calls: string[] = []
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const shared = {
    slow: async (_: unknown, { ms }: { ms: number }) => {
      calls.push('slow')
      await wait(ms)
      return `after ${ms}`
    },
    busy: (_: unknown, { ms }: { ms: number }) => {
      calls.push('busy')
      const until = performance.now() + ms
      while (performance.now() < until);
      return `busy for ${ms}`
    },
  }
  const schema = makeExecutableSchema({
    typeDefs,
    resolvers: {
      Query: {
        ...shared,
        fast: () => 'fast',
        thing: () => {
          calls.push('thing')
          return { id: '1', name: 'one' }
        },
        things: (_: unknown, { count }: { count: number }) =>
          Array.from({ length: count }, (_, index) => ({ id: String(index), name: `thing ${index}` })),
        feed: async function* () {
          yield { id: '1', name: 'one' }
          yield { id: '2', name: 'two' }
        },
      },
      Thing: {
        ...shared,
        part: () => {
          calls.push('part')
          return { id: 'p', name: 'part' }
        },
        required: () => null,
      },
    },
  })
  return { ...createTestServer({ ...init, schema }), calls }
}

async function arrivals(url: string, query: string): Promise<{ first: number; last: number; parts: any[] }> {
  const start = performance.now()
  const response = await requestMultipart(url, { body: { query } })
  const parts = await response.allParts()
  expect(await response.ended).toEqual({ complete: true })
  return {
    first: (parts[0]?.at ?? 0) - start,
    last: (parts.at(-1)?.at ?? 0) - start,
    parts: parts.map((part) => part.json()),
  }
}

async function plainTime(url: string, query: string): Promise<number> {
  const start = performance.now()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  await response.text()
  return performance.now() - start
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

describe('the first part over a real socket', () => {
  // Medians of interleaved rounds, since one round on a shared machine says little. Waiting would take 50 ms or more.
  const noiseMs = 25

  async function compare(deferred: string, plain: string) {
    const disposables = createDisposables(onTestFinished)
    const url = await listen(createCountingServer().yoga, disposables)
    for (let warm = 0; warm < 5; warm++) await arrivals(url, deferred).then(() => plainTime(url, plain))
    const firsts: number[] = []
    const plains: number[] = []
    for (let round = 0; round < 9; round++) {
      plains.push(await plainTime(url, plain))
      firsts.push((await arrivals(url, deferred)).first)
    }
    return { first: median(firsts), plain: median(plains) }
  }

  /** A server whose fields `held` wait until they are released, a request to it, and which of them have begun. */
  async function hold(query: string) {
    const disposables = createDisposables(onTestFinished)
    const begun: string[] = []
    const releases = new Map<string, () => void>()
    const schema = makeExecutableSchema({
      typeDefs: 'type Query { fast: String held(name: String!): String }',
      resolvers: {
        Query: {
          fast: () => 'fast',
          held: (_: unknown, { name }: { name: string }) => {
            begun.push(name)
            return new Promise((resolve) => releases.set(name, () => resolve(name)))
          },
        },
      },
    })
    const url = await listen(createTestServer({ schema }).yoga, disposables)
    const response = requestMultipart(url, { body: { query } })
    return { begun, response, release: (name: string): void => releases.get(name)?.() }
  }

  it('does not wait for a deferred field', async () => {
    const { begun, response, release } = await hold('{ fast ... @defer { held(name: "late") } }')
    const { nextPart, ended } = await response
    expect((await nextPart()).json()).toEqual({ data: { fast: 'fast' }, hasNext: true })
    await waitUntil(() => begun.includes('late'))
    release('late')
    expect((await nextPart()).json()).toMatchObject({ incremental: [{ data: { held: 'late' } }] })
    expect(await ended).toEqual({ complete: true })
  })

  it('does not wait for 50 ms of synchronous deferred work', async () => {
    const { first, plain } = await compare('{ fast ... @defer { busy(ms: 50) } }', '{ fast }')
    expect(first).toBeLessThan(plain * 1.5 + noiseMs)
  })

  it('does not wait for synchronous work in the items of a list', async () => {
    const { first, plain } = await compare(
      '{ things(count: 10) { id ... @defer { busy(ms: 5) } } }',
      '{ things(count: 10) { id } }',
    )
    expect(first).toBeLessThan(plain * 1.5 + noiseMs)
  })

  it('comes of fields that wait at the same time as deferred ones', async () => {
    const { begun, response, release } = await hold(
      '{ held(name: "first") ... @defer { late: held(name: "late") } }',
    )
    await waitUntil(() => begun.length === 2)
    expect(begun).toEqual(['first', 'late'])
    release('first')
    const { nextPart, ended } = await response
    expect((await nextPart()).json()).toEqual({ data: { held: 'first' }, hasNext: true })
    release('late')
    expect((await nextPart()).json()).toMatchObject({ incremental: [{ data: { late: 'late' } }] })
    expect(await ended).toEqual({ complete: true })
  })
})

describe('what is executed', () => {
  it('fields that several fragments select are resolved once', async () => {
    const server = createCountingServer()
    const parts = await server.parts(`{
      thing { id part { id } ... @defer(label: "a") { name part { name } } }
      ... @defer(label: "b") { thing { part { id name } } }
      ... @defer(label: "c") { thing { ... @defer(label: "d") { name slow(ms: 0) } } }
    }`)
    expect(server.calls.sort()).toEqual(['part', 'slow', 'thing'])
    const patches = parts.slice(1).flatMap(({ incremental }) => incremental ?? [])
    expect(Object.fromEntries(patches.map(({ label, path, data }) => [label, { path, data }]))).toEqual({
      a: { path: ['thing'], data: { name: 'one', part: { name: 'part' } } },
      b: { path: [], data: { thing: { part: { id: 'p', name: 'part' } } } },
      c: { path: [], data: { thing: {} } },
      d: { path: ['thing'], data: { name: 'one', slow: 'after 0' } },
    })
  })

  it('nothing deferred starts before the first part is taken', async () => {
    const server = createCountingServer()
    const response = await server.post('{ fast ... @defer { busy(ms: 0) } }')
    const reader = response.body!.getReader()
    await reader.read()
    expect(server.calls).toEqual([])
    await reader.read()
    expect(server.calls).toEqual(['busy'])
  })

  it('patches that are ready in the same turn go in one part', async () => {
    const parts = await createCountingServer().parts('{ things(count: 20) { id ... @defer { name } } }')
    expect(parts).toHaveLength(2)
    expect(parts[1].incremental).toHaveLength(20)
  })

  it('an error that takes the fragment makes its data null; the parent stays', async () => {
    const parts = await createCountingServer().parts('{ thing { id ... @defer(label: "r") { required } } }')
    expect(parts[0].data).toEqual({ thing: { id: '1' } })
    expect(parts[1].incremental).toEqual([
      {
        data: null,
        path: ['thing'],
        label: 'r',
        errors: [expect.objectContaining({ path: ['thing', 'required'] })],
      },
    ])
  })

  it('a fragment whose place is taken by an error in the first part is not sent', async () => {
    const server = createCountingServer()
    const response = await server.post('{ thing { required ... @defer { busy(ms: 0) } } }')
    expect(response.headers.get('content-type')).toMatch(/json/)
    expect(await response.json()).toMatchObject({
      data: { thing: null },
      errors: [{ path: ['thing', 'required'] }],
    })
    expect(server.calls).toEqual(['thing'])
  })

  it('a part with what is no JSON is null, with an error at its own place', async () => {
    const Big = new GraphQLScalarType({ name: 'Big', serialize: () => 1n })
    const schema = makeExecutableSchema({
      typeDefs: 'scalar Big type Query { thing: Thing } type Thing { id: ID big: Big }',
      resolvers: { Big, Query: { thing: () => ({ id: 7, big: 1 }) } },
    })
    const parts = await createTestServer({ schema }).parts('{ thing { id ... @defer(label: "b") { big } } }')
    expect(parts.flatMap(({ incremental = [] }) => incremental)).toEqual([
      { data: null, path: ['thing'], label: 'b', errors: [expect.objectContaining({ path: ['thing'] })] },
    ])
  })

  it('leaves are serialized by their types, on their own and in lists', async () => {
    const schema = makeExecutableSchema({
      typeDefs:
        'enum Color { RED BLUE } type Query { thing: Thing } type Thing { id: ID color: Color ids: [ID!] colors: [Color] text: String }',
      resolvers: {
        Color: { RED: 1, BLUE: 2 },
        Query: { thing: () => ({ id: 7, color: 2, ids: [1, 2], colors: [1, 3, null], text: true }) },
      },
    })
    const server = createTestServer({ schema })
    const fields = 'id color ids text'
    const [first, later] = await server.parts(`{ thing { ${fields} ... @defer { two: id colors } } }`)
    expect(first.data).toEqual({ thing: { id: '7', color: 'BLUE', ids: ['1', '2'], text: 'true' } })
    expect(later.incremental).toEqual([
      {
        data: { two: '7', colors: ['RED', null, null] },
        path: ['thing'],
        errors: [expect.objectContaining({ path: ['thing', 'colors', 1] })],
      },
    ])
  })

  it('lists from async generators', async () => {
    const parts = await createCountingServer().parts('{ feed { id ... @defer { name } } }')
    expect(parts[0].data).toEqual({ feed: [{ id: '1' }, { id: '2' }] })
    expect(parts[1].incremental.map(({ path }: any) => path)).toEqual([
      ['feed', 0],
      ['feed', 1],
    ])
  })

  it('max patches inlines the rest of a list', async () => {
    const server = createCountingServer({ internals: { maxPatches: 2 } })
    const [first, second] = await server.parts('{ things(count: 4) { id ... @defer { name } } }')
    expect(first.data.things.slice(1)).toEqual([
      { id: '1' },
      { id: '2', name: 'thing 2' },
      { id: '3', name: 'thing 3' },
    ])
    expect(second.incremental).toHaveLength(2)
  })

  it('variables that cannot be coerced are refused before execution', async () => {
    const server = createCountingServer()
    const response = await server.post('query ($ms: Int!) { fast ... @defer { slow(ms: $ms) } }', {
      variables: { ms: 'long' },
      accept: 'multipart/mixed, application/graphql-response+json',
    })
    expect(response.status).toBe(400)
    expect(server.calls).toEqual([])
  })
})

describe('auto', () => {
  const executorOf = (name: string): Plugin => ({
    onExecute: ({ executeFn, setExecuteFn }) => {
      const replaced = { [name]: (args: any) => executeFn(args) }[name]
      setExecuteFn(replaced as typeof executeFn)
    },
  })

  it('streams on the interpreter and splits where another executor is in place', async () => {
    const query = '{ fast ... @defer { busy(ms: 0) } }'
    const streaming = createCountingServer()
    const readFirst = async (server: typeof streaming) => {
      const response = await server.post(query)
      await response.body!.getReader().read()
      return [...server.calls]
    }
    expect(await readFirst(streaming)).toEqual([])
    const compiled = createCountingServer({ before: [executorOf('compiledExecutor')] })
    expect(await readFirst(compiled)).toEqual(['busy'])
    const forced = createCountingServer({
      before: [executorOf('compiledExecutor')],
      options: { strategy: 'streaming' },
    })
    expect(await readFirst(forced)).toEqual([])
  })

  // What a tracer does: it wraps the executor that it finds, and looks at what comes back.
  function createTracer() {
    const seen: unknown[] = []
    const plugin: Plugin = {
      onExecute: ({ executeFn, setExecuteFn }) =>
        setExecuteFn(async (args: any) => {
          const result = (await executeFn(args)) as any
          seen.push(Symbol.asyncIterator in result ? 'stream' : result.data)
          return result
        }),
    }
    return { seen, plugin }
  }

  it('a wrapper registered after us sees the stream', async () => {
    const { seen, plugin } = createTracer()
    const server = createCountingServer({ after: [plugin] })
    const response = await server.post('{ fast ... @defer { busy(ms: 0) } }')
    const reader = response.body!.getReader()
    await reader.read()
    expect({ seen, calls: server.calls }).toEqual({ seen: ['stream'], calls: [] })
    await reader.read()
    expect(server.calls).toEqual(['busy'])
  })

  it('a wrapper registered before us is kept: it sees the whole result, which is then split', async () => {
    const { seen, plugin } = createTracer()
    const server = createCountingServer({ before: [plugin] })
    const parts = await server.parts('{ fast ... @defer(label: "b") { busy(ms: 0) } }')
    expect(seen).toEqual([{ fast: 'fast', busy: 'busy for 0' }])
    expect(parts).toEqual([
      { data: { fast: 'fast' }, hasNext: true },
      { incremental: [{ data: { busy: 'busy for 0' }, path: [], label: 'b' }], hasNext: false },
    ])
    expect(server.calls).toEqual(['busy'])
  })

  it('an error of a whole result goes with the part that shows its place, under its own path', async () => {
    const { seen, plugin } = createTracer()
    const server = createCountingServer({ before: [plugin] })
    const [first, second] = await server.parts(
      '{ things(count: 2) { now: part { required } ... @defer(label: "r") { later: part { required } } } }',
    )
    expect(seen).toHaveLength(1)
    const at = (...path: unknown[]) => expect.objectContaining({ path })
    expect(first).toEqual({
      data: { things: [{ now: null }, { now: null }] },
      errors: [at('things', 0, 'now', 'required'), at('things', 1, 'now', 'required')],
      hasNext: true,
    })
    expect(second.incremental).toEqual(
      [0, 1].map((index) => ({
        data: { later: null },
        path: ['things', index],
        label: 'r',
        errors: [at('things', index, 'later', 'required')],
      })),
    )
  })

  it('an error beside a value goes with the part that shows the value', async () => {
    const whole: Plugin = {
      onExecute: ({ setExecuteFn }) =>
        setExecuteFn(() => ({
          data: { fast: 'fast', things: [{ id: '1' }], thing: { id: '2' } },
          errors: [['things'], ['things', 0], ['thing'], ['fast']].map(
            (path) => new GraphQLError(`of ${path.join('.')}`, { path }),
          ),
        })),
    }
    const server = createCountingServer({ after: [whole] })
    const [first, second] = await server.parts(
      '{ fast ... @defer { things(count: 1) { id } } ... @defer { thing { id } } }',
    )
    const messages = (part: any): string[] => part.errors.map(({ message }: any) => message)
    expect(messages(first)).toEqual(['of fast'])
    expect(second.incremental.map(messages)).toEqual([['of things', 'of things.0'], ['of thing']])
  })

  it('an error of a part that is executed names aliases and items', async () => {
    const server = createCountingServer()
    const [, last] = await server.parts(
      '{ fast ... @defer { all: things(count: 2) { one: part { required } } } }',
    )
    expect(last.incremental[0].errors.map(({ path }: any) => path)).toEqual([
      ['all', 0, 'one', 'required'],
      ['all', 1, 'one', 'required'],
    ])
  })

  it('streaming when it is asked for takes the place of a wrapper registered before us', async () => {
    const { seen, plugin } = createTracer()
    const server = createCountingServer({ before: [plugin], options: { strategy: 'streaming' } })
    expect(await server.parts('{ fast ... @defer { busy(ms: 0) } }')).toHaveLength(2)
    expect(seen).toEqual([])
  })

  it('an executor that replaces ours is split at the edge', async () => {
    const server = createCountingServer({ after: [executorOf('compiledExecutor')] })
    expect(await server.parts('{ fast ... @defer(label: "b") { busy(ms: 0) } }')).toEqual([
      { data: { fast: 'fast' }, hasNext: true },
      { incremental: [{ data: { busy: 'busy for 0' }, path: [], label: 'b' }], hasNext: false },
    ])
  })
})

it("streams whatever the server's own executor is called, as in a minified bundle", async () => {
  let plugins: readonly unknown[] = []
  const probe: Plugin = { onPluginInit: (init) => void (plugins = init.plugins) }
  let finish = (): void => {}
  const slow = new Promise<string>((resolve) => (finish = () => resolve('late')))
  const schema = makeExecutableSchema({
    typeDefs: 'type Query { fast: String, slow: String }',
    resolvers: { Query: { fast: () => 'fast', slow: () => slow } },
  })
  const server = createTestServer({ schema, before: [probe] })
  const own = yogasExecutor(plugins) as object
  const { name } = own as { readonly name: string }
  onTestFinished(() => void Object.defineProperty(own, 'name', { value: name }))
  Object.defineProperty(own, 'name', { value: 'n' })
  const response = await Promise.race([
    server.post('{ fast ... @defer { slow } }'),
    new Promise<never>((_, reject) => setTimeout(() => reject(new Error('waits for slow')), 5_000)),
  ])
  finish()
  expect(await response.text()).toMatch(/"fast":"fast"[^]*"hasNext":true[^]*"slow":"late"/)
})
