import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { importOpenApi, type OpenApiImport } from '../../src/index.ts'

// Clients know fields and types by their names: what is added to a document gives way, or is told.

const SCHEMAS =
  'Pet pet PET pet_ a.Pet b.Pet PetInput Pet-Input Pet-Output PetOwner PetEntry ListPets ListPetsInput ListPetsStatus Status Query query Long PetsStatus'.split(
    ' ',
  )
const IDS = ['listPets', 'list-pets', 'list_pets', 'ListPets', 'getPets', 'get pets', 'GET', undefined]
const PATHS = ['/pets', '/pets/', '/p-ets', '/pe/ts', '/{id}/pets', '/list-pets', '/{pets}']

interface Stated {
  readonly operationId?: string | undefined
}

interface Part {
  readonly kind: 'schema' | 'operation'
  readonly name: string
  readonly node: object
}

const schemaNode = fc.record({ isMap: fc.boolean(), owner: fc.constantFrom('inline', ...SCHEMAS) })
const operationNode = fc.record({
  operationId: fc.constantFrom(...IDS),
  tag: fc.constantFrom('a', 'list', undefined),
  status: fc.constantFrom('none', 'own', 'shared'),
  body: fc.constantFrom('inline', ...SCHEMAS),
  answer: fc.constantFrom('inline', ...SCHEMAS),
})
const part = fc.oneof(
  fc.record({ kind: fc.constant('schema' as const), name: fc.constantFrom(...SCHEMAS), node: schemaNode }),
  fc.record({
    kind: fc.constant('operation' as const),
    name: fc.constantFrom(...PATHS.flatMap((path) => [`get ${path}`, `post ${path}`])),
    node: operationNode,
  }),
)
const parts = fc.uniqueArray(part, {
  selector: ({ kind, name }) => `${kind} ${name}`,
  minLength: 2,
  maxLength: 8,
})

/** The input of `Pet-Output` is `Pet_Input` until a schema `Pet-Input` is added. */
const INPUT_AFTER_OUTPUT: Part[] = [
  {
    kind: 'operation',
    name: 'post /p-ets',
    node: { operationId: 'listPets', tag: 'a', status: 'none', body: 'Pet-Output', answer: 'inline' },
  },
  { kind: 'schema', name: 'Pet-Output', node: { isMap: false, owner: 'inline' } },
  { kind: 'schema', name: 'Pet-Input', node: { isMap: false, owner: 'inline' } },
]

/** The document of the parts. Whatever becomes a type says of itself what it is. */
function documentOf(all: readonly Part[]): object {
  const schemas: Record<string, object> = {}
  const paths: Record<string, Record<string, object>> = {}
  const known = new Set(all.filter(({ kind }) => kind === 'schema').map(({ name }) => name))
  const inline = (what: string): object => ({
    type: 'object',
    description: what,
    properties: {
      owner: { type: 'object', description: `owner of ${what}`, properties: { a: { type: 'string' } } },
    },
  })
  const given = (name: string, what: string): object =>
    known.has(name) ? { $ref: `#/components/schemas/${name}` } : inline(what)
  const status = (what: string): object => ({ type: 'string', enum: ['x'], description: `status of ${what}` })
  for (const { kind, name, node } of all) {
    if (kind === 'schema') {
      const { isMap, owner } = node as { isMap: boolean; owner: string }
      const value = given(owner, `owner of ${name}`)
      const kv = { type: 'object', additionalProperties: value }
      schemas[name] = {
        type: 'object',
        description: name,
        properties: { own: { type: 'string' }, owner: isMap ? kv : value },
      }
      continue
    }
    const [method = '', path = ''] = name.split(' ')
    const { operationId, tag, status: how, body, answer } = node as Record<string, string>
    const own = { name: 'status', in: 'query', schema: status(name) }
    const parameters =
      how === 'none' ? [] : [how === 'own' ? own : { $ref: '#/components/parameters/Status' }]
    const json = (schema: object): object => ({ content: { 'application/json': { schema } } })
    ;(paths[path] ??= {})[method] = {
      description: name,
      ...(operationId !== undefined && { operationId }),
      ...(tag !== undefined && { tags: [tag] }),
      parameters,
      ...(method === 'post' && { requestBody: json(given(body ?? '', `body of ${name}`)) }),
      responses: { 200: json(given(answer ?? '', `answer of ${name}`)) },
    }
  }
  const parameters = { Status: { name: 'status', in: 'query', schema: status('all') } }
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths, components: { schemas, parameters } }
}

/** One method of a path: what stands where would depend on the other one. */
function onePerPath(given: readonly Part[]): readonly Part[] {
  return [...new Map(given.map((one) => [one.name.replace(/^\w+ /, ''), one])).values()]
}

function lettersOf(name: string): string {
  return name.replaceAll(/[^A-Za-z]/g, '').toLowerCase()
}

/** Names of fields and types by what they are. */
function namesIn({ endpoints, types }: OpenApiImport): ReadonlyMap<string, string> {
  return new Map([
    ...endpoints.map(({ name, description }) => [`field ${description}`, name] as const),
    ...Object.entries(types).flatMap(([name, { kind, description }]) =>
      description === undefined ? [] : [[`${kind} ${description}`, name] as const],
    ),
  ])
}

async function read(all: readonly Part[]): Promise<OpenApiImport> {
  return importOpenApi(documentOf(all), { env: {}, baseUrl: 'http://a.example' })
}

/** What is called otherwise in the second: what it is, and what it was called. */
function changed(before: OpenApiImport, after: OpenApiImport): readonly (readonly [string, string])[] {
  const now = namesIn(after)
  return [...namesIn(before)].filter(([what, name]) => now.has(what) && now.get(what) !== name)
}

/** Whether a finding tells the name, or one that it is made of: types are called by what is around them. */
function tells({ findings }: OpenApiImport, name: string): boolean {
  const told = findings.flatMap(({ message }) => {
    const [, own = ''] = / is the (?:field|type) "(\w+)": /.exec(message) ?? []
    const wanted = [...message.matchAll(/ already has the name "(\w+)"/g)].map(([, name = '']) => name)
    return [own, ...wanted].filter(Boolean).map((one) => one.replace(/_?Input$/, ''))
  })
  return told.some((one) => name.toLowerCase().startsWith(one.toLowerCase()))
}

describe('what is added to a document', () => {
  it('anywhere changes no name that was there, but those that it tells', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(parts, fc.nat(), fc.integer({ min: 1, max: 3 }), async (given, at, count) => {
        const all = onePerPath(given)
        const start = at % all.length
        const rest = all.filter((_, index) => index < start || index >= start + count)
        const [before, after] = [await read(rest), await read(all)]
        const untold = changed(before, after).filter(([, name]) => !tells(after, name))
        expect(untold).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('behind all others changes none, unless it has a name as it stands', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 1, max: 3 }), async (given, count) => {
        const all = onePerPath(given)
        const [before, after] = [await read(all.slice(0, -count)), await read(all)]
        const added = all.slice(-count)
        // Whoever has a name as it stands has it, wherever it is; and so has a schema before what is called by its place.
        const known = [...namesIn(before)]
        const isStanding = added.some(({ kind, name, node }) => {
          if (kind === 'operation') return known.some(([, one]) => one === (node as Stated).operationId)
          const bare = lettersOf(name)
          const isMade = (what: string): boolean => what.startsWith('input ') || what.includes(' of ')
          return known.some(
            ([what, one]) => one === name || (isMade(what) && lettersOf(one).startsWith(bare)),
          )
        })
        const moved = isStanding ? [] : changed(before, after)
        expect(moved).toEqual([])
      }),
      { numRuns: 300, examples: [[INPUT_AFTER_OUTPUT, 1]] },
    )
  })

  it.each([
    [['query', 'Query'], { query: 'QueryType' }],
    [['Query', 'query'], { Query: 'QueryType' }],
    [['Query', 'QueryType'], { QueryType: 'QueryType' }],
    [['pet', 'Pet'], { Pet: 'Pet' }],
  ])(
    'of %j the names are %j: who cannot keep its name does not take it from others',
    async (names, expected) => {
      const node = { isMap: false, owner: 'inline' }
      const schemas = names.map((name) => ({ kind: 'schema' as const, name, node }))
      const uses = names.map((name, index) => ({
        kind: 'operation' as const,
        name: `get /${index}`,
        node: { answer: name, status: 'none' },
      }))
      const found = namesIn(await read([...schemas, ...uses]))
      for (const [schema, type] of Object.entries(expected)) expect(found.get(`object ${schema}`)).toBe(type)
    },
  )
})
