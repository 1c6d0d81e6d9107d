import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import type { InvalidationBus } from '@vinyasa/invalidation'
import type { LiveQueryPlugin } from '@vinyasa/live-query'
import { describe, expect, it, onTestFinished } from 'vitest'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const [, SECTION = ''] = /## À la carte\n([^]*?)\n## /.exec(README) ?? []
/** By the first word of their comment. */
const EXAMPLES = new Map(
  [...SECTION.matchAll(/```ts\n\/\/ ([\w ]+):([^]*?)```/g)].map(([, name = '', code = '']) => [
    name,
    `//${code}`,
  ]),
)

const PREAMBLE = `
import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
export const calls: string[] = []
const todos = ['Water the plants']
const schema = createSchema({
  typeDefs: 'type Todo { text: String slow: String } type Query { todos: [Todo!]! } type Mutation { add(text: String!): Todo }',
  resolvers: {
    Query: { todos: () => (calls.push('todos'), todos.map((text) => ({ text }))) },
    Mutation: { add: (_: unknown, { text }: { text: string }) => (todos.push(text), { text }) },
    Todo: { slow: () => new Promise((resolve) => setTimeout(resolve, 50, 'slow')) },
  },
})
`
const BEHAVIOURS = `
import { useResponseCache } from '@vinyasa/response-cache'
import { useLiveQuery } from '@vinyasa/live-query'
`

interface Example {
  readonly yoga: { fetch(url: string, init?: RequestInit): Promise<Response>; dispose(): unknown }
  readonly calls: readonly string[]
  readonly live?: LiveQueryPlugin
  readonly bus?: InvalidationBus
  readonly server?: Server
}

/** Runs an example as it stands, with other addresses, on a small schema. */
async function run(
  name: string,
  replace: Readonly<Record<string, string>> = {},
  more = '',
): Promise<Example> {
  let code = EXAMPLES.get(name) ?? ''
  for (const [from, to] of Object.entries(replace)) {
    expect(code).toContain(from)
    code = code.replace(from, to)
  }
  const file = fileURLToPath(new URL(`readme-${name.replace(/ /g, '-')}.generated.ts`, import.meta.url))
  writeFileSync(file, `${PREAMBLE}${more}${code}`)
  onTestFinished(() => rmSync(file))
  return (await import(/* @vite-ignore */ file)) as Example
}

async function ask({ yoga }: Example, query: string, accept = 'application/json'): Promise<Response> {
  return yoga.fetch('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query }),
  })
}

describe("the README's examples of the plugins run as they stand", () => {
  it('one for each, of five lines of code at most', () => {
    expect([...EXAMPLES.keys()]).toEqual([
      'gRPC',
      'REST',
      'Cache',
      'Defer',
      'Live',
      'A thinner door',
      'The bus',
    ])
    for (const code of EXAMPLES.values()) {
      const statements = code.split('\n').filter((line) => /^(import|const|export|await)/.test(line))
      expect(statements.length).toBeLessThanOrEqual(5)
    }
  })

  it('gRPC', async () => {
    const proto = `syntax = "proto3";
      import "graphql.proto";
      message Request { string id = 1; }
      message User { string name = 1; }
      service Users {
        rpc GetUser(Request) returns (User) { option (graphql.schema) = { type: QUERY name: "user" }; }
      }`
    const file = fileURLToPath(new URL('readme-users.generated.proto', import.meta.url))
    writeFileSync(file, proto)
    onTestFinished(() => rmSync(file))
    const plain = proto.replace(/import .*;/, '').replace(/\{ option .*\}/, ';')
    const backend = await startGrpcBackend({
      protos: plain,
      handlers: { 'Users/GetUser': ({ id }) => ({ name: `user ${id}` }) },
    })
    onTestFinished(() => backend.stop())
    const example = await run('gRPC', { 'users.proto': file, 'localhost:50051': backend.address })
    expect(await (await ask(example, '{ user(id: "1") { name } }')).json()).toEqual({
      data: { user: { name: 'user 1' } },
    })
  })

  it('REST', async () => {
    const backend = await startRestBackend(({ rawUrl }) => ({ json: rawUrl }))
    onTestFinished(() => backend.stop())
    const example = await run('REST', { 'http://localhost:4010': backend.url })
    expect(await (await ask(example, '{ getProduct(id: "7") }')).json()).toEqual({
      data: { getProduct: '/products/7' },
    })
  })

  it('Cache', async () => {
    const example = await run('Cache')
    const outcome = async (): Promise<string | null> =>
      (await ask(example, '{ todos { text } }')).headers.get('x-cache')
    expect([await outcome(), await outcome()]).toEqual(['MISS', 'HIT'])
    await (await ask(example, 'mutation { add(text: "Feed the cat") { text } }')).text()
    expect(await outcome()).toBe('MISS')
  })

  it('Defer', async () => {
    const example = await run('Defer')
    const response = await ask(example, '{ todos { text ... @defer { slow } } }', 'multipart/mixed')
    expect(response.headers.get('content-type')).toContain('multipart/mixed')
    expect(await response.text()).toMatch(/"hasNext":true[^]*"slow"/)
  })

  it('Live', async () => {
    const example = await run('Live')
    onTestFinished(() => example.live?.close())
    const stop = new AbortController()
    const response = await example.yoga.fetch('http://localhost/graphql?query=query@live{todos{text}}', {
      headers: { accept: 'text/event-stream' },
      signal: stop.signal,
    })
    const updates = updatesOf(response)
    expect(await updates.next()).toContain('Water the plants')
    await (await ask(example, 'mutation { add(text: "Feed the cat") { text } }')).text()
    expect(await updates.next()).toContain('Feed the cat')
    stop.abort()
  })

  it('A thinner door', async () => {
    const { server } = (await run('A thinner door')) as Required<Example>
    await new Promise<void>((resolve) => void server.listen(0, resolve))
    onTestFinished(() => void server.close().closeAllConnections())
    const { port } = server.address() as { port: number }
    const response = await fetch(`http://localhost:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ todos { text } }"}',
    })
    expect(await response.json()).toEqual({ data: { todos: [{ text: 'Water the plants' }] } })
  })

  it('The bus', async () => {
    const example = await run('The bus', {}, BEHAVIOURS)
    onTestFinished(() => void example.yoga.dispose())
    const query = '{ todos { text } }'
    for (let i = 0; i < 2; i++) await (await ask(example, query)).text()
    expect(example.calls).toHaveLength(1)
    await example.bus?.publish([{ entityType: 'Todo', operation: 'update', entityId: '1' }])
    await (await ask(example, query)).text()
    expect(example.calls).toHaveLength(2)
  })
})

/** The updates of a live query over SSE, without the comments that keep the connection open. */
function updatesOf(response: Response): { next(): Promise<string> } {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  return {
    async next() {
      for (;;) {
        const { value = '' } = (await reader?.read()) ?? {}
        if (value.includes('"data"')) return value
      }
    },
  }
}
