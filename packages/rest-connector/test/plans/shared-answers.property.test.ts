import { envelop, useEngine } from '@envelop/core'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import * as graphql from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRestConnector, field, useRestConnector } from '../../src/index.ts'
import type { PlanEvent } from '@vinyasa/source-kit'

const leaves = {
  id: field.id.required,
  name: field.string,
  ratio: field.float,
  any: field.json,
  tags: field.list(field.string),
}
const LEAVES = Object.keys(leaves)
const endpoints = [
  {
    name: 'things',
    path: '/things/{id}',
    args: { id: 'ID!' },
    responseSchema: {
      typeName: 'Thing',
      fields: { ...leaves, inner: field.object('Inner', leaves), inners: field.list(field.object('Inner')) },
    },
    returnType: '[Thing]',
  },
  { name: 'thing', path: '/thing/{id}', args: { id: 'ID!' }, returnType: 'Thing' },
  { name: 'raw', path: '/raw/{id}', args: { id: 'ID!' } },
  {
    name: 'owners',
    path: '/owners',
    args: { ids: '[ID!]!', shape: 'String' },
    queryParams: { ids: '{ids}', shape: '{shape}' },
    returnType: '[Owner!]!',
    rootField: false,
    responseSchema: { typeName: 'Owner', fields: { id: 'id!', shape: 'string!' } },
    on: [{ type: 'Thing', field: 'owner', args: { ids: '{id}' }, batch: { key: 'id' } }],
  },
] as const

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())

/** Of the ids 0 and 1. */
let bodies: readonly unknown[] = []
const calls = { planned: 0, ordinary: 0 }
const events: PlanEvent[] = []
type Ask = (query: string, variables: object) => Promise<string>
let ask: Record<'planned' | 'ordinary', Ask>

beforeAll(async () => {
  const backend = cleanup.use(
    await startRestBackend(({ rawUrl, url }) => {
      if (rawUrl.includes('/owners')) {
        const shape = url.searchParams.get('shape')
        return { json: url.searchParams.getAll('ids').map((id) => ({ id, shape: `${shape} of ${id}` })) }
      }
      calls[rawUrl.startsWith('/planned') ? 'planned' : 'ordinary']++
      const isList = rawUrl.includes('/things/')
      const body = bodies[Number(rawUrl.at(-1))]
      return { json: isList || !Array.isArray(body) ? body : body[0] }
    }),
  )
  const serverWith = (plans: boolean): Ask => {
    const connector = cleanup.use(
      createRestConnector('c', {
        baseUrl: `${backend.url}/${plans ? 'planned' : 'ordinary'}`,
        endpoints: [...endpoints],
        noRetry: true,
        plans,
        ...(plans && { onPlan: (event: PlanEvent) => void events.push(event) }),
      }),
    )
    const getEnveloped = envelop({ plugins: [useEngine(graphql), useRestConnector(connector)] })
    const documents = new Map<string, graphql.DocumentNode>()
    return async (query, variableValues) => {
      const { parse, validate, execute, schema, contextFactory } = getEnveloped({})
      const document = documents.get(query) ?? parse(query)
      documents.set(query, document)
      expect(validate(schema, document)).toEqual([])
      const contextValue = await contextFactory()
      const result = await execute({ schema, document, variableValues, contextValue })
      return inOrder(String(result.stringify?.(result) ?? JSON.stringify(result)))
    }
  }
  ask = { planned: serverWith(true), ordinary: serverWith(false) }
})

/** Errors of fields that are resolved at the same time come in any order. */
function inOrder(json: string): string {
  const result = JSON.parse(json) as { errors?: unknown[] }
  if (!result.errors) return json
  return JSON.stringify({ ...result, errors: result.errors.map((error) => JSON.stringify(error)).sort() })
}

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('\u2028', '"\\', '\ud800'))
const members = {
  id: fc.constantFrom('a', 'b', 'c'),
  name: fc.option(text),
  ratio: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  any: fc.jsonValue({ maxDepth: 2 }),
  tags: fc.option(fc.array(fc.option(text), { maxLength: 3 })),
}
const inner = fc.record(members, { requiredKeys: ['id'] })
const thing = fc.record(
  { ...members, inner: fc.option(inner), inners: fc.option(fc.array(inner, { maxLength: 2 })) },
  { requiredKeys: ['id'] },
)
/** Some are written in slices, some in bytes, some have what a plan leaves to ordinary execution. */
const things = fc
  .tuple(
    fc.array(fc.option(thing, { freq: 20 }), { minLength: 1, maxLength: 4 }),
    fc.constantFrom(1, 60, 600),
  )
  .map(([some, times]) => Array.from({ length: times }, () => some).flat())
const odd = fc.oneof({ weight: 12, arbitrary: things }, { weight: 1, arbitrary: fc.jsonValue() })

const leafSelection = fc.subarray(LEAVES, { minLength: 1 }).map((names) => names.join(' '))
const selection = fc
  .tuple(
    leafSelection,
    fc.option(leafSelection),
    fc.option(leafSelection),
    fc.option(fc.constant('owner(shape: $shape) { id shape }'), { freq: 3 }),
  )
  .map(([own, one, many, join]) =>
    [own, one && `inner { ${one} }`, many && `inners { ${many} }`, join].filter(Boolean).join(' '),
  )
const root = fc.oneof(
  selection.map((selected) => `things(id: $id) { ${selected} }`),
  selection.map((selected) => `thing(id: $id) { ${selected} }`),
  fc.constant('raw(id: $id)'),
)
const query = fc
  .array(root, { minLength: 1, maxLength: 3 })
  .map((roots) => roots.map((one, index) => `r${index}: ${one}`).join(' '))
  .map((roots) => `query($id: ID!${roots.includes('$shape') ? ', $shape: String' : ''}) { ${roots} }`)

it('what several executions have of one call is for each what it is for one alone', async () => {
  let executions = 0
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(odd, odd),
      fc.uniqueArray(query, { minLength: 1, maxLength: 2 }),
      fc.array(fc.tuple(fc.nat(1), fc.nat(1), fc.constantFrom('round', 'flat')), {
        minLength: 2,
        maxLength: 6,
      }),
      async (json, queries, asked) => {
        bodies = json
        const given = asked.map(
          ([which, id, shape]) => [queries[which % queries.length] as string, { id, shape }] as const,
        )
        const answers = await Promise.all(given.map((one) => ask.planned(...one)))
        executions += given.length
        const alone = new Map<string, string>()
        for (const [index, one] of given.entries()) {
          const name = JSON.stringify(one)
          if (!alone.has(name)) alone.set(name, await ask.ordinary(...one))
          expect(answers[index]).toBe(alone.get(name))
        }
      },
    ),
    { numRuns: 150 },
  )
  const fallen = events.filter(({ outcome }) => outcome === 'fell-back').length
  expect(fallen / executions).toBeLessThan(0.5)
  expect(events.filter(({ outcome }) => outcome === 'unplanned')).toEqual([])
  expect(calls.planned).toBeLessThan(executions)
}, 120_000)
