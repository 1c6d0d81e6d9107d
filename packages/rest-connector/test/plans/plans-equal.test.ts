import { envelop, useEngine } from '@envelop/core'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import * as graphql from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRestConnector, field, useRestConnector, type PlanEvent } from '../../src/index.ts'

const CASES = 2000

/** Everything that a response type may hold, read well or badly. */
const leaves = {
  id: field.id.required,
  name: field.string,
  count: field.int,
  ratio: field.float,
  isOn: field.boolean,
  big: field.long,
  any: field.json,
  renamed: field.string.from('other-name'),
  constructor: field.string,
  tags: field.list(field.string),
  grid: { type: '[[int!]]' },
}
const LEAVES = Object.keys(leaves)
const endpoints = [
  {
    name: 'thing',
    path: '/thing/{id}',
    responseSchema: {
      typeName: 'Thing',
      fields: {
        ...leaves,
        inner: field.object('Inner', { ...leaves, more: field.object('Inner') }),
        inners: field.list(field.object('Inner')),
        needed: field.object('Inner').required,
      },
    },
  },
  { name: 'things', path: '/things/{id}', returnType: '[Thing!]' },
  { name: 'raw', path: '/raw/{id}' },
  {
    name: 'owners',
    path: '/owners',
    args: { ids: '[ID!]!', shape: 'String' },
    queryParams: { ids: '{ids}', shape: '{shape}' },
    returnType: '[Owner!]!',
    rootField: false,
    responseSchema: { typeName: 'Owner', fields: { id: 'id!', name: 'string!', thing: 'Inner' } },
    on: [
      { type: 'Inner', field: 'owner', args: { ids: '{name}' }, batch: { key: 'id', maxSize: 3 } },
      { type: 'Thing', field: 'owners', args: { ids: '{id}' }, batch: { key: 'id', many: true } },
    ],
  },
] as const

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())

let body: unknown
let owners: unknown
let status = 200
const calls = { planned: 0, ordinary: 0 }
type Ask = (query: string, variables: object) => Promise<string>
const events: PlanEvent[] = []
let ask: Record<'planned' | 'ordinary', Ask>

beforeAll(async () => {
  const backend = cleanup.use(
    await startRestBackend(({ rawUrl }) => {
      calls[rawUrl.startsWith('/planned') ? 'planned' : 'ordinary']++
      return rawUrl.includes('/owners') ? { json: owners } : { status, json: body }
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
    return async (query, variableValues) => {
      const { parse, validate, execute, schema, contextFactory } = getEnveloped({})
      const document = parse(query)
      expect(validate(schema, document)).toEqual([])
      const contextValue = await contextFactory()
      const result = await execute({ schema, document, variableValues, contextValue })
      return inOrder(result.stringify?.(result) ?? JSON.stringify(result))
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

/** A document and what the backend answers: mostly as declared, sometimes not. */
const sometimes = <T>(usual: fc.Arbitrary<T>, weight = 25): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight, arbitrary: usual },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown> },
  )
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('a', 'b', 'c', '\u2028', '"\\'),
)
const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const members = {
  id: sometimes(fc.oneof(key, fc.integer())),
  name: sometimes(key),
  count: sometimes(fc.oneof(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.constant(-0)), 15),
  ratio: sometimes(fc.double({ noNaN: true, noDefaultInfinity: true })),
  isOn: sometimes(fc.boolean()),
  big: sometimes(
    fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
  ),
  any: fc.jsonValue({ maxDepth: 2 }),
  'other-name': sometimes(text),
  constructor: sometimes(text),
  tags: sometimes(fc.array(sometimes(fc.option(text)), { maxLength: 3 })),
  grid: sometimes(
    fc.array(fc.option(fc.array(sometimes(fc.integer({ max: 9 }), 40), { maxLength: 2 })), { maxLength: 2 }),
  ),
}
const leafObject = fc.record(members, { requiredKeys: ['id', 'name'] })
const inner = fc.record(
  { ...members, more: sometimes(fc.option(leafObject)) },
  { requiredKeys: ['id', 'name'] },
)
const thing = sometimes(
  fc.record(
    {
      ...members,
      inner: sometimes(fc.option(inner)),
      inners: sometimes(fc.array(sometimes(inner, 40), { maxLength: 4 })),
      needed: sometimes(inner, 40),
    },
    { requiredKeys: ['id', 'needed'] },
  ),
  60,
)
const owner = fc.record({ id: key, name: sometimes(text, 60), thing: sometimes(fc.option(inner)) })

const directive = fc.constantFrom(
  '',
  '',
  '',
  '',
  ' @skip(if: $no)',
  ' @include(if: $yes)',
  ' @skip(if: $yes)',
)
const alias = fc.constantFrom('', '', '', 'x: ', 'y: ')
type Selection = fc.Arbitrary<string>
const leaf: Selection = fc
  .tuple(alias, fc.constantFrom('__typename', ...LEAVES), directive)
  // An alias is of one field only: two fields of one response name would be no valid document.
  .map(([name, of, condition]) => `${name && `${of.replace('__', '')}_${name}`}${of}${condition}`)
const leafSet = fc.array(leaf, { minLength: 1, maxLength: 5 }).map((all) => all.join(' '))
const within = (name: string, set: Selection): Selection =>
  fc.tuple(set, directive).map(([inside, condition]) => `${name}${condition} { ${inside} }`)
const ownerSet = fc.constantFrom('id name', 'name', '__typename id', 'name thing { id count }')
const innerSet: Selection = fc
  .tuple(
    leafSet,
    fc.option(within('more', leafSet), { nil: '' }),
    fc.constantFrom('', '', '...F', '... on Inner { ratio any }', '... @include(if: $no) { name }'),
    fc.option(
      ownerSet.map((set) => `owner(shape: "s") { ${set} }`),
      { nil: '', freq: 3 },
    ),
  )
  .map((parts) => parts.join(' '))
const thingSet: Selection = fc
  .tuple(
    leafSet,
    fc.option(within('inner', innerSet), { nil: '' }),
    fc.option(within('list: inners', innerSet), { nil: '' }),
    fc.option(within('needed', leafSet), { nil: '' }),
    fc.option(
      ownerSet.map((set) => `owners { ${set} }`),
      { nil: '' },
    ),
    fc.constantFrom('', '...T'),
  )
  .map((parts) => parts.join(' '))
const root: Selection = fc.oneof(
  { weight: 3, arbitrary: thingSet.map((set) => `thing(id: $id) { ${set} }`) },
  { weight: 3, arbitrary: thingSet.map((set) => `things(id: "1") { ${set} }`) },
  { weight: 1, arbitrary: thingSet.map((set) => `__typename thing(id: $id) { ${set} } raw(id: "x")`) },
)

it(
  'plans answer as ordinary execution does, for any document and any response',
  { timeout: 240_000 },
  async () => {
    let cases = 0
    await fc.assert(
      fc.asyncProperty(
        root,
        fc.oneof(thing, fc.array(thing, { maxLength: 4 })),
        sometimes(fc.array(owner, { maxLength: 6 }), 15),
        fc.boolean(),
        fc.constantFrom(200, 200, 200, 200, 200, 200, 204, 404, 500),
        async (selection, given, givenOwners, yes, givenStatus) => {
          cases++
          // Lists for `things`, one object for `thing`, mostly.
          body = selection.startsWith('things') && !Array.isArray(given) ? [given] : given
          if (selection.startsWith('thing(') && Array.isArray(given) && cases % 10 > 0)
            body = given[0] ?? null
          owners = givenOwners
          status = givenStatus
          const query = `query Q($id: String!, $yes: Boolean!, $no: Boolean = false) { ${selection} hold: __typename @skip(if: $yes) last: __typename @skip(if: $no) }
          fragment F on Inner { name tags } fragment T on Thing { count ratio }`
          const valid = query
            .replace(selection.includes('...F') ? '' : 'fragment F on Inner { name tags }', '')
            .replace(selection.includes('...T') ? '' : 'fragment T on Thing { count ratio }', '')
            .replace(selection.includes('$id') ? '' : '$id: String!, ', '')
          const ordinary = await ask.ordinary(valid, { id: '1', yes })
          const planned = await ask.planned(valid, { id: '1', yes })
          expect(planned).toBe(ordinary)
        },
      ),
      { numRuns: CASES, seed: 20261121 },
    )
    const of = (outcome: PlanEvent['outcome']): number =>
      events.filter((event) => event.outcome === outcome).length
    // A call that a plan made is not made again when ordinary execution takes over. A plan may ask for joins below a value
    // that turns out wrong, which execution would not have reached.
    expect(calls.planned).toBeLessThan(calls.ordinary * 1.05)
    // A property of plans that were hardly made would show nothing.
    expect(of('planned')).toBeGreaterThan(CASES * 0.5)
    expect(of('fell-back')).toBeGreaterThan(CASES * 0.05)
    expect(of('fell-back')).toBeLessThan(CASES * 0.7)
  },
)
