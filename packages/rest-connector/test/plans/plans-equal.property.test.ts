import { setImmediate } from 'node:timers/promises'
import { envelop, useEngine } from '@envelop/core'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import * as graphql from 'graphql'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createRestConnector, field, useRestConnector, type TypeDefinitions } from '../../src/index.ts'
import type { PlanEvent } from '@vinyasa/source-kit'

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
        wrapped: field
          .object('Wrapped', {
            ...leaves,
            text: field.string.from('other-name'),
            inner: field.object('Inner'),
            again: field.object('Wrapped').from('$'),
            animal: { type: 'Animal' },
          })
          .required.from('$'),
        animal: { type: 'Animal' },
        animals: { type: '[Animal]' },
        found: { type: '[Found!]' },
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
      { type: 'Inner', field: 'owner', args: { ids: '{name}' }, batch: { key: 'id', maxBatchSize: 3 } },
      { type: 'Dog', field: 'owner', args: { ids: '{name}' }, batch: { key: 'id' } },
      { type: 'Wrapped', field: 'owner', args: { ids: '{text}' }, batch: { key: 'id' } },
      { type: 'Thing', field: 'owners', args: { ids: '{id}' }, batch: { key: 'id', many: true } },
    ],
  },
] as const

/** Types that only a value tells: by a member that says which, and by what each must have. */
const shared = { name: { type: 'String' }, friend: { type: 'Animal' }, ages: { type: '[Int!]' } }
const types: TypeDefinitions = {
  Animal: {
    kind: 'interface',
    fields: shared,
    members: { Dog: {}, Cat: {} },
    discriminator: { key: 'kind', types: { dog: 'Dog', puppy: 'Dog', cat: 'Cat' } },
  },
  Dog: {
    kind: 'object',
    interfaces: ['Animal'],
    fields: { ...shared, tricks: { type: '[String!]' }, other: { type: 'Cat' } },
  },
  Cat: {
    kind: 'object',
    interfaces: ['Animal'],
    fields: { ...shared, lives: { type: 'Int', key: 'n-lives' } },
  },
  Note: { kind: 'object', fields: { text: { type: 'String!' } } },
  Found: {
    kind: 'union',
    members: { Note: { required: ['text'] }, Dog: { constants: { kind: ['dog'] } } },
  },
}

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())

let body: unknown
let owners: unknown
/** Gives no more than is asked for; undefined: `owners`, whatever is asked for. */
let ownersFor: ((ids: readonly string[]) => unknown) | undefined
let status = 200
const calls = { planned: 0, ordinary: 0 }
/** What joins were asked for. */
const keys = { planned: new Set<string>(), ordinary: new Set<string>() }
/**
 * graphql 17 answers as soon as an error has decided the answer, with calls still under way: over when nothing came in a
 * hundred turns of the event loop, however long these take.
 */
async function callsToEnd(): Promise<void> {
  for (let quiet = 0, seen = -1; quiet < 100; quiet++) {
    if (seen !== calls.planned + calls.ordinary) quiet = 0
    seen = calls.planned + calls.ordinary
    await setImmediate()
  }
}
type Ask = (query: string, variables: object) => Promise<string>
const events: PlanEvent[] = []
let ask: Record<'planned' | 'ordinary', Ask>

beforeAll(async () => {
  const backend = cleanup.use(
    await startRestBackend(({ rawUrl, url }) => {
      const side = rawUrl.startsWith('/planned') ? 'planned' : 'ordinary'
      calls[side]++
      for (const [, id = ''] of rawUrl.matchAll(/ids=([^&]*)/g)) keys[side].add(id)
      return rawUrl.includes('/owners')
        ? { json: ownersFor ? ownersFor(url.searchParams.getAll('ids')) : owners }
        : { status, json: body }
    }),
  )
  const serverWith = (plans: boolean): Ask => {
    const connector = cleanup.use(
      createRestConnector('c', {
        baseUrl: `${backend.url}/${plans ? 'planned' : 'ordinary'}`,
        endpoints: [...endpoints],
        types,
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
const { animal } = fc.letrec<{ animal: unknown }>((tie) => ({
  animal: sometimes(
    fc.record(
      {
        kind: sometimes(fc.constantFrom('dog', 'puppy', 'cat'), 60),
        name: sometimes(key, 60),
        friend: fc.option(tie('animal'), { maxDepth: 2 }),
        ages: sometimes(fc.array(fc.integer({ max: 9 }), { maxLength: 2 }), 60),
        tricks: sometimes(fc.option(fc.array(text, { maxLength: 2 })), 60),
        other: fc.option(tie('animal'), { maxDepth: 2 }),
        'n-lives': sometimes(fc.nat(9), 60),
        text: text,
      },
      { requiredKeys: ['kind', 'name'] },
    ),
    80,
  ),
}))
const thing = sometimes(
  fc.record(
    {
      ...members,
      animal: sometimes(fc.option(animal), 60),
      animals: sometimes(fc.array(animal, { maxLength: 3 }), 60),
      found: sometimes(fc.array(fc.oneof(animal, sometimes(fc.record({ text }), 60)), { maxLength: 3 }), 60),
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
const animalLeaf = fc
  .tuple(fc.constantFrom('__typename', 'kind: __typename', 'name', 'called: name', 'ages'), directive)
  .map(([of, condition]) => of + condition)
const animalLeaves = fc.array(animalLeaf, { minLength: 1, maxLength: 3 }).map((all) => all.join(' '))
/** What each type has of its own, fragments on the interface and on a type that the value never is among them. */
const dogSet = fc.constantFrom(
  'tricks',
  'tricks other { lives }',
  'name other { __typename friend { name } }',
  'owner { id name }',
)
const onDog = dogSet.map((set) => `... on Dog { ${set} }`)
const onCat = fc.constantFrom(
  '... on Cat { lives }',
  '... on Cat { lives friend { name ... on Dog { tricks } } }',
)
const animalSet: Selection = fc
  .tuple(
    animalLeaves,
    fc.option(onDog, { nil: '' }),
    fc.option(onCat, { nil: '' }),
    fc.option(
      fc
        .tuple(animalLeaves, fc.oneof(onCat, onDog, fc.constant('')))
        .map(([set, more]) => `friend { ${set} ${more} }`),
      { nil: '' },
    ),
    fc.option(within('... on Animal', animalLeaves), { nil: '' }),
    fc.constantFrom('', '', '...A'),
  )
  .map((parts) => parts.join(' '))
const foundSet: Selection = fc
  .tuple(
    fc.constantFrom('__typename', '... on Note { text }', '... on Note { text again: text }'),
    fc.option(within('... on Animal', animalLeaves), { nil: '' }),
    fc.option(onDog, { nil: '' }),
  )
  .map((parts) => parts.join(' '))
/** An object of members of the level above, and once more of these. */
const wrappedSet: Selection = fc
  .tuple(
    leafSet,
    fc.option(within('inner', leafSet), { nil: '' }),
    fc.option(within('again', leafSet), { nil: '' }),
    fc.constantFrom('', '', 'owner { id }', 'animal { name }'),
  )
  .map((parts) => parts.join(' '))
const thingSet: Selection = fc
  .tuple(
    fc.option(within('animal', animalSet), { nil: '', freq: 2 }),
    fc.option(within('animals', animalSet), { nil: '', freq: 2 }),
    fc.option(within('found', foundSet), { nil: '', freq: 2 }),
    leafSet,
    fc.option(within('inner', innerSet), { nil: '' }),
    fc.option(within('list: inners', innerSet), { nil: '' }),
    fc.option(within('needed', leafSet), { nil: '' }),
    fc.option(within('wrapped', wrappedSet), { nil: '' }),
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
  { timeout: 600_000 },
  async () => {
    let cases = 0
    const abstract = { selected: 0, planned: 0 }
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
          fragment F on Inner { name tags } fragment T on Thing { count ratio } fragment A on Animal { again: name ... on Dog { tricks } }`
          const valid = query
            .replace(selection.includes('...F') ? '' : 'fragment F on Inner { name tags }', '')
            .replace(selection.includes('...T') ? '' : 'fragment T on Thing { count ratio }', '')
            .replace(
              selection.includes('...A') ? '' : 'fragment A on Animal { again: name ... on Dog { tricks } }',
              '',
            )
            .replace(selection.includes('$id') ? '' : '$id: String!, ', '')
          const ordinary = await ask.ordinary(valid, { id: '1', yes })
          const planned = await ask.planned(valid, { id: '1', yes })
          expect(planned).toBe(ordinary)
          if (JSON.parse(ordinary).errors) await callsToEnd()
          const asked = { planned: [...keys.planned].sort(), ordinary: [...keys.ordinary].sort() }
          for (const side of Object.values(keys)) side.clear()
          const isPlanned = events.at(-1)?.outcome === 'planned'
          expect(isPlanned ? asked.planned : asked.ordinary).toEqual(asked.ordinary)
          if (!/animal|found/.test(selection)) return
          abstract.selected++
          if (isPlanned) abstract.planned++
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
    expect(abstract.selected).toBeGreaterThan(CASES * 0.3)
    expect(abstract.planned).toBeGreaterThan(abstract.selected * 0.3)
    expect(of('fell-back')).toBeGreaterThan(CASES * 0.05)
    expect(of('fell-back')).toBeLessThan(CASES * 0.7)
  },
)

it('a join below an interface is loaded for the parents of each of its types', async () => {
  const dog = (name: string) => ({ kind: 'dog', name })
  body = {
    id: '1',
    needed: { id: 'n', name: 'n' },
    animals: [
      { ...dog('a'), friend: dog('b') },
      { kind: 'cat', name: 'c', friend: dog('d') },
    ],
  }
  ownersFor = (ids) => ids.map((id) => ({ id, name: `of ${id}` }))
  onTestFinished(() => {
    ownersFor = undefined
  })
  status = 200
  const query = '{ thing(id: "1") { animals { name friend { ... on Dog { owner { name } } } } } }'
  const ordinary = await ask.ordinary(query, {})
  expect(JSON.parse(ordinary)).toMatchObject({
    data: {
      thing: { animals: [{ friend: { owner: { name: 'of b' } } }, { friend: { owner: { name: 'of d' } } }] },
    },
  })
  expect(await ask.planned(query, {})).toBe(ordinary)
})
