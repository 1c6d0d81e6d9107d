import { makeExecutableSchema } from '@graphql-tools/schema'
import { describe, expect, it } from 'vitest'
import { createTestServer, partsOf } from './support/server.ts'

const fails = (name: string) => async () => {
  throw new Error(name)
}
const schema = makeExecutableSchema({
  typeDefs: `
    type Query { thing: Thing things: [Thing] }
    type Thing { id: ID slow: String other: String bad: String required: String! part: Thing parts: [Thing] badParts: [Thing] }`,
  resolvers: {
    Query: { thing: () => ({}), things: () => [{}, {}] },
    Thing: {
      id: () => '1',
      slow: () => new Promise((resolve) => setTimeout(() => resolve('slow'), 20)),
      other: () => 'other',
      bad: fails('bad'),
      required: fails('required'),
      part: () => ({}),
      parts: () => [{}, {}],
      badParts: fails('badParts'),
    },
  },
})

/** `x` and `y` hold the fragment `C`, and `C` defers `D`. */
const twice = (fields: string, ofD: string, more = 'slow', at = 'thing'): string => `
  { ${at} { id ... @defer(label: "x") { ...C ${more} } ... @defer(label: "y") { ...C } } }
  fragment C on Thing { other ${fields} }
  fragment D on Thing { ${ofD} }`

const D = '...D @defer(label: "d")'
const QUERIES: Readonly<Record<string, string>> = {
  'at the same place': twice(D, 'bad'),
  'at a place below': twice(`part { ${D} }`, 'bad'),
  'in the items of a list': twice(`parts { ${D} }`, 'bad other'),
  'in lists of lists': twice(`parts { id parts { ${D} } }`, 'bad', 'slow', 'things'),
  'with another inside': twice(D, 'bad part { ... @defer(label: "e") { bad other } }'),
  'that fails as a whole': twice(`part { ${D} }`, 'required'),
  'that fails as a whole at once': twice(D, 'required', ''),
  'by a fragment that fails itself': twice(D, 'bad', 'required'),
  'whose list fails': twice(`part { ${D} }`, 'badParts { id }'),
  'in three': `{ thing { id ... @defer(label: "x") { ...C slow } ... @defer(label: "y") { ...C } ... @defer(label: "z") { id ...C } } }
    fragment C on Thing { ${D} other } fragment D on Thing { bad }`,
  'without a label': `{ thing { id ... @defer(label: "x") { ...C slow } ... @defer(label: "y") { ...C } } }
    fragment C on Thing { other ...D @defer } fragment D on Thing { bad }`,
}

describe.each(['streaming', 'eager'] as const)(
  'a deferred fragment that two others bring, %s',
  (strategy) => {
    const server = createTestServer({ schema, options: { strategy }, yoga: { maskedErrors: false } })

    async function ask(query: string, accept?: string): Promise<any[]> {
      const text = await server.text(query, accept === undefined ? {} : { accept })
      // Nothing is left to defer of a result that failed before it was split.
      return text.startsWith('{') ? [{ ...JSON.parse(text), hasNext: false }] : partsOf(text)
    }

    it.each(Object.entries(QUERIES))('is sent once, and so is each of its errors: %s', async (_, query) => {
      const parts = await ask(query)
      const patches: any[] = parts.flatMap(({ incremental = [] }) => incremental)
      const places = patches.map(({ label, path }) => JSON.stringify([label, path]))
      expect(places).toEqual([...new Set(places)])
      const errors = [...parts, ...patches].flatMap((part) => part.errors ?? [])
      const told = errors.map(({ message, path }) => JSON.stringify([message, path]))
      expect(told).toEqual([...new Set(told)])
      expect(parts.at(-1)).toMatchObject({ hasNext: false })
      // The client has all that the operation gives without @defer, but for what failed as a whole.
      const whole = await server.yoga.fetch('http://test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: query.replaceAll(/@defer(\([^)]*\))?/g, '') }),
      })
      const expected = (await whole.json()) as any
      const hasFailed = query.includes('required')
      const whys = expected.errors.map((error: any) => JSON.stringify([error.message, error.path]))
      expect(hasFailed || merge(parts)).toEqual(hasFailed || expected.data)
      expect(hasFailed || told.toSorted()).toEqual(hasFailed || whys.toSorted())
    })

    it.each(Object.entries(QUERIES))('is announced once: %s', async (_, query) => {
      const accept = 'multipart/mixed;incrementalSpec=v0.2, application/json'
      const parts = await ask(query, accept)
      const pending: any[] = parts.flatMap((part) => part.pending ?? [])
      const places = pending.map(({ label, path }) => JSON.stringify([label, path]))
      expect(places).toEqual([...new Set(places)])
      const completed = parts.flatMap((part) => part.completed ?? []).map(({ id }) => id)
      expect(completed.toSorted()).toEqual(pending.map(({ id }) => id).toSorted())
    })
  },
)

function merge(parts: readonly any[]): unknown {
  const [{ data }] = parts
  for (const { data: more, path } of parts.flatMap(({ incremental = [] }) => incremental)) {
    const at = path.reduce((value: any, segment: string | number) => value[segment], data)
    mergeInto(at, more)
  }
  return data
}

function mergeInto(target: any, more: any): void {
  for (const [key, value] of Object.entries(more))
    if (typeof value === 'object' && value !== null && typeof target[key] === 'object')
      mergeInto(target[key], value)
    else target[key] = value
}

it('names its errors if it fails as a whole, also if another fragment does for the same reason', async () => {
  const server = createTestServer({
    schema,
    options: { strategy: 'streaming' },
    yoga: { maskedErrors: false },
  })
  const parts = await server.parts(`
    { thing { id ... @defer(label: "x") { ...F slow } ... @defer(label: "y") { ...F } } }
    fragment F on Thing { required }`)
  const error = { message: 'required', path: ['thing', 'required'] }
  expect(parts.flatMap(({ incremental = [] }) => incremental)).toMatchObject([
    { label: 'x', data: null, errors: [error] },
    { label: 'y', data: null, errors: [error] },
  ])
})
