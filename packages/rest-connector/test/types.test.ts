import { createDisposables, startRestBackend, type RestBackend } from '@vinyasa/test-kit'
import { createDependencies } from '@vinyasa/invalidation'
import { parse, printSchema, validateSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector, type TypeDefinitions } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const types: TypeDefinitions = {
  Pet: {
    kind: 'object',
    fields: {
      id: { type: 'Long' },
      bestFriend: { type: 'Animal', key: 'best-friend' },
      status: { type: 'Status', deprecated: 'gone' },
      labels: { type: '[StringEntry!]' },
      born: { type: 'Date' },
      parents: { type: '[Pet!]' },
    },
  },
  Robot: { kind: 'object', fields: { serial: { type: 'String' } } },
  Animal: {
    kind: 'union',
    members: { Pet: { required: ['id'] }, Robot: { required: ['serial'] } },
    discriminator: { key: 'kind', types: { robot: 'Robot' } },
  },
  Status: {
    kind: 'enum',
    values: { IN_PROGRESS: { value: 'in-progress' }, PLUS_1: { value: '+1' }, _2: { value: 2 } },
  },
  Date: { kind: 'scalar', pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'a date' },
  StringEntry: { kind: 'entry', value: 'String' },
  PetInput: {
    kind: 'input',
    fields: {
      bestFriend: { type: 'AnimalInput', key: 'best-friend' },
      status: { type: 'Status!' },
      labels: { type: '[StringEntryInput!]' },
      parents: { type: '[PetInput!]' },
      id: { type: 'Long' },
    },
  },
  RobotInput: { kind: 'input', fields: { serial: { type: 'String' } } },
  AnimalInput: {
    kind: 'input',
    isOneOf: true,
    fields: { pet: { type: 'PetInput' }, robot: { type: 'RobotInput' } },
  },
  StringEntryInput: { kind: 'input entry', value: 'String' },
}

async function serve(reply: unknown, plans = true) {
  const backend = cleanup.use(await startRestBackend(() => ({ json: reply })))
  const connector = cleanup.use(
    createRestConnector('pets', {
      baseUrl: backend.url,
      plans,
      types,
      endpoints: [
        {
          name: 'pet',
          path: '/pet',
          queryParams: { status: '{status}', day: '{day}' },
          args: { status: { type: 'Status', default: '+1' }, day: 'Date' },
          returnType: 'Pet',
        },
        { name: 'labels', path: '/labels', returnType: '[StringEntry!]', deprecated: 'use pet' },
        {
          name: 'addPet',
          path: '/pet',
          method: 'POST',
          args: { input: 'PetInput!' },
          bodyTemplate: '{input}',
          returnType: 'Pet',
        },
      ],
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  const ask = async (query: string, variables = {}): Promise<any> => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return response.json()
  }
  return { ask, connector, backend: backend as RestBackend }
}

describe.each([true, false])('declared types, plans: %s', (plans) => {
  it('are a valid schema', async () => {
    const { connector } = await serve({}, plans)
    expect(validateSchema(connector.schema)).toEqual([])
    const sdl = printSchema(connector.schema)
    expect(sdl).toContain('pet(status: Status = PLUS_1, day: Date): Pet')
    expect(sdl).toContain('labels: [StringEntry!] @deprecated(reason: "use pet")')
    expect(sdl).toContain('input AnimalInput @oneOf')
  })

  it('are parts of what they come with: their leaves and objects without id depend on nothing else', async () => {
    const { connector } = await serve({}, plans)
    const { ofOperation } = createDependencies(connector.schema)
    const of = (selected: string): unknown => ofOperation(parse(`{ pet { ${selected} } }`))
    for (const selected of [
      'id status born',
      'id labels { key value }',
      'id bestFriend { ... on Robot { serial } }',
    ])
      expect([selected, of(selected)]).toMatchObject([selected, { everything: false }])
  })

  it('answers as it was declared: keys, enums, maps, unions', async () => {
    const { ask, backend } = await serve(
      {
        id: 1,
        'best-friend': { kind: 'robot', id: 3, serial: 'R2' },
        status: 'in-progress',
        labels: { a: 'x', __proto__: null, 'b-c': 'y' },
        born: '2020-01-01',
        parents: [{ id: 2, 'best-friend': { id: 9 }, status: 2 }],
      },
      plans,
    )
    const { data, errors } = await ask(
      `{ pet(day: "2020-01-01") { id status born labels { key value } bestFriend { __typename ... on Robot { serial } }
         parents { id status bestFriend { ... on Pet { id } } } } }`,
    )
    expect(errors).toBeUndefined()
    expect(data.pet).toEqual({
      id: '1',
      status: 'IN_PROGRESS',
      born: '2020-01-01',
      labels: [
        { key: 'a', value: 'x' },
        { key: 'b-c', value: 'y' },
      ],
      bestFriend: { __typename: 'Robot', serial: 'R2' },
      parents: [{ id: '2', status: '_2', bestFriend: { id: '9' } }],
    })
    expect(backend.requests[0]?.rawUrl).toBe('/pet?status=%2B1&day=2020-01-01')
  })

  it('a planned map and enum are what they are without plans', async () => {
    const { ask } = await serve({ a: 'x', b: null }, plans)
    expect((await ask('{ labels { value key } }')).data.labels).toEqual([
      { value: 'x', key: 'a' },
      { value: null, key: 'b' },
    ])
  })

  it.each([
    [
      'an enum value that is not listed',
      { status: 'secret' },
      'status',
      /The upstream sent a value for Pet\.status that is not in the enum Status/,
    ],
    [
      'a list for a map',
      { labels: 'secret' },
      'labels { key }',
      /Pet\.labels is declared as a list, but the upstream sent a string/,
    ],
    [
      'an object that is no member',
      { 'best-friend': { secret: 1 } },
      'bestFriend { __typename }',
      /does not match any object type of Animal/,
    ],
    ['a scalar for a list', { parents: 1 }, 'parents { id }', /Pet\.parents is declared as a list/],
  ])('%s is null with an error at its place', async (_, reply, selection, message) => {
    const { ask } = await serve({ id: 1, ...reply }, plans)
    const { data, errors } = await ask(`{ pet { id ${selection} } }`)
    expect(data.pet.id).toBe('1')
    expect(Object.values(data.pet)[1]).toBeNull()
    expect(errors).toHaveLength(1)
    expect(errors[0].message).toMatch(message)
    expect(errors[0].message).not.toContain('secret')
    expect(errors[0].extensions.code).toBe('REST_BAD_RESPONSE')
  })

  it('sends inputs as the API writes them', async () => {
    const { ask, backend } = await serve({ id: 1 }, plans)
    const { errors } = await ask(
      `mutation ($id: Long) { addPet(input: { id: $id, status: PLUS_1, labels: [{ key: "__proto__", value: "v" }],
         bestFriend: { robot: { serial: "R" } }, parents: [{ status: _2, bestFriend: { pet: { status: IN_PROGRESS, id: 9007199254740993 } } }] }) { id } }`,
      { id: '9223372036854775807' },
    )
    expect(errors).toBeUndefined()
    expect(backend.requests[0]?.body.toString()).toBe(
      '{"best-friend":{"serial":"R"},"status":"+1","labels":{"__proto__":"v"},' +
        '"parents":[{"best-friend":{"status":"in-progress","id":9007199254740993},"status":2}],"id":9223372036854775807}',
    )
  })

  it.each([
    'addPet(input: {})',
    'addPet(input: { status: PLUS_1, bestFriend: {} })',
    'addPet(input: { status: OTHER })',
  ])('refuses %s', async (field) => {
    const { ask, backend } = await serve({}, plans)
    expect((await ask(`mutation { ${field} { id } }`)).errors).toHaveLength(1)
    expect(backend.requests).toEqual([])
  })
})
