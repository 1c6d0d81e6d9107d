import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const [, SECTION = ''] = /## Add one plugin\n([^]*?)\n## /.exec(README) ?? []
const [, EXAMPLE = ''] = /```ts\n([^]*?)```/.exec(SECTION) ?? []

const PREAMBLE = `
import { createSchema, createYoga } from 'graphql-yoga'
const todos = ['Water the plants']
const schema = createSchema({
  typeDefs: 'type Todo { text: String } type Query { todos: [Todo!]! } type Mutation { add(text: String!): Todo }',
  resolvers: {
    Query: { todos: () => todos.map((text) => ({ text })) },
    Mutation: { add: (_: unknown, { text }: { text: string }) => (todos.push(text), { text }) },
  },
})
`

interface Example {
  readonly yoga: { fetch(url: string, init?: RequestInit): Promise<Response> }
}

async function send({ yoga }: Example, query: string): Promise<Response> {
  return yoga.fetch('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
}

// The READMEs of the packages have an example for each plugin. Their own tests and test/runtimes run these.
it("runs the README's example of a plugin", async () => {
  const file = fileURLToPath(new URL('readme-plugin.generated.ts', import.meta.url))
  writeFileSync(file, `${PREAMBLE}${EXAMPLE}`)
  onTestFinished(() => rmSync(file))
  const example = (await import(/* @vite-ignore */ file)) as Example
  const outcome = async (): Promise<string | null> =>
    (await send(example, '{ todos { text } }')).headers.get('x-cache')
  expect([await outcome(), await outcome()]).toEqual(['MISS', 'HIT'])
  await (await send(example, 'mutation { add(text: "Feed the cat") { text } }')).text()
  expect(await outcome()).toBe('MISS')
})
