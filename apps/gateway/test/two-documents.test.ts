import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startGrpcBackend, startRestBackend, temporaryFolder } from '@vinyasa/test-kit'
import { validateSchema } from 'graphql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../src/cli.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import type { Gateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'
import { ask, openGateway } from './support/gateway.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })

/** An API with a `Pet` that only its own `member` tells from those of others, and every scalar that a format gives. */
function documentOf(member: string): object {
  const text = (format?: string) => ({ type: 'string', format })
  const properties = {
    id: { type: 'integer' },
    [member]: { type: 'string' },
    status: { type: 'string', enum: [member, 'sold'] },
    tags: { type: 'object', additionalProperties: { type: 'string' } },
    born: text('date'),
    seen: text('date-time'),
    chip: text('uuid'),
    home: text('uri'),
    owner: text('email'),
    photo: text('byte'),
    any: {},
  }
  const answers = (schema: object) => ({
    200: { description: 'ok', ...json(schema) },
    default: { description: 'not ok', ...json(ref('Error')) },
  })
  return {
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    paths: {
      '/pet': {
        get: { operationId: 'getPet', responses: answers(ref('Pet')) },
        put: { operationId: 'putPet', requestBody: json(ref('Pet')), responses: answers(ref('Pet')) },
      },
      '/errors': {
        get: { operationId: 'errors', responses: answers({ type: 'array', items: ref('Error') }) },
      },
    },
    components: {
      schemas: {
        Pet: { type: 'object', properties },
        Error: { type: 'object', properties: { [`${member}Code`]: { type: 'string' } } },
      },
    },
  }
}

async function start(config: GatewayConfig, documents: Readonly<Record<string, object>>): Promise<Gateway> {
  const baseDirectory = await temporaryFolder('two-documents')
  for (const [file, document] of Object.entries(documents))
    await writeFile(join(baseDirectory, file), JSON.stringify(document))
  const gateway = await openGateway(config, { baseDirectory })
  expect(validateSchema(gateway.schema)).toEqual([])
  return gateway
}

/** The names of a gateway's own root fields and types. */
function namesOf({ schema }: Gateway): readonly string[] {
  const roots = [schema.getQueryType(), schema.getMutationType()]
  const fields = roots.flatMap((root) => Object.keys(root?.getFields() ?? {}))
  return [...fields, ...Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'))]
}

const documents = { 'zoo.json': documentOf('cage'), 'shop.json': documentOf('price') }
const baseUrl = 'http://127.0.0.1:1'
const zoo = { baseUrl, openapi: 'zoo.json' }
const shop = { baseUrl, openapi: 'shop.json' }

const PROTO = /* proto */ `
  syntax = "proto3";
  package people.v1;
  message Pet { string name = 1; Date born = 2; }
  message Date { int32 year = 1; }
  message GetPetRequest {}
  service Pets { rpc GetPet(GetPetRequest) returns (Pet); }
`

describe('OpenAPI documents with names in common', () => {
  it('stand together: each field gives what its own API says', async () => {
    const backend = await startRestBackend(({ url, method, body }) => ({
      json:
        method === 'PUT'
          ? JSON.parse(body.toString())
          : url.pathname.startsWith('/zoo')
            ? { id: 1, cage: 'north', status: 'cage', tags: { a: 'b' }, seen: '2026-01-31T12:00:00Z' }
            : { id: 2, price: 'high', status: 'price', tags: { c: 'd' }, seen: '2026-02-01T12:00:00Z' },
    }))
    onTestFinished(() => backend.stop())
    const gateway = await start(
      {
        rest: {
          zoo: { ...zoo, baseUrl: `${backend.url}/zoo` },
          shop: { ...shop, baseUrl: `${backend.url}/shop` },
        },
      },
      documents,
    )
    expect(
      await ask(
        gateway,
        `{ getPet { __typename id cage status tags { key value } seen }
           shopGetPet { __typename id price status tags { key value } seen } }`,
      ),
    ).toEqual({
      data: {
        getPet: {
          __typename: 'Pet',
          id: '1',
          cage: 'north',
          status: 'CAGE',
          tags: [{ key: 'a', value: 'b' }],
          seen: '2026-01-31T12:00:00Z',
        },
        shopGetPet: {
          __typename: 'ShopPet',
          id: '2',
          price: 'high',
          status: 'PRICE',
          tags: [{ key: 'c', value: 'd' }],
          seen: '2026-02-01T12:00:00Z',
        },
      },
    })
    const put =
      'mutation { shopPutPet(input: { price: "low", status: PRICE, born: "2026-01-01" }) { price status } }'
    expect(await ask(gateway, put)).toEqual({ data: { shopPutPet: { price: 'low', status: 'PRICE' } } })
  })

  it('tell each thing that is called otherwise', async () => {
    const { notes } = await start({ rest: { zoo, shop } }, documents)
    const why = (kind: string, name: string, wanted: string): string =>
      `the ${kind} is called ${name}, because the name ${wanted} is taken; choose a name with rename or prefix`
    expect(notes).toEqual(
      [
        `#/paths/~1pet/get: ${why('field', 'shopGetPet', 'getPet')}`,
        `#/paths/~1pet/put: ${why('field', 'shopPutPet', 'putPet')}`,
        `#/paths/~1errors/get: ${why('field', 'shopErrors', 'errors')}`,
        `#/components/schemas/Error: ${why('type', 'ShopError', 'Error')}`,
        `#/components/schemas/Pet: ${why('type', 'ShopPet', 'Pet')}`,
        `#: ${why('type', 'ShopStringEntry', 'StringEntry')}`,
        `#: ${why('type', 'ShopStringEntryInput', 'StringEntryInput')}`,
      ].map((note) => ({ source: 'shop', note })),
    )
  })

  it('keep their names when another comes after them', async () => {
    const alone = await start({ rest: { zoo } }, documents)
    const both = await start({ rest: { zoo, shop } }, documents)
    const three = await start({ rest: { zoo, shop, farm: zoo } }, documents)
    expect(alone.notes).toEqual([])
    expect(namesOf(both)).toEqual(expect.arrayContaining([...namesOf(alone)]))
    expect(namesOf(three)).toEqual(expect.arrayContaining([...namesOf(both)]))
    expect(namesOf(three)).toEqual(
      expect.arrayContaining(['farmGetPet', 'FarmPet', 'FarmPetInput', 'FarmPetStatus']),
    )
  })

  it('leave a gRPC source its names, a message called like a scalar among them', async () => {
    const grpc = await startGrpcBackend({
      protos: PROTO,
      handlers: { 'people.v1.Pets/GetPet': async () => ({ name: 'Rex', born: { year: 2020 } }) },
    })
    onTestFinished(() => grpc.stop())
    const people = { endpoint: grpc.address, protoText: { 'people.proto': PROTO }, expose: 'all' as const }
    const gateway = await start({ grpc: { people }, rest: { zoo } }, documents)
    expect(await ask(gateway, '{ getPet { name born { year } } }')).toEqual({
      data: { getPet: { name: 'Rex', born: { year: 2020 } } },
    })
    const types = gateway.schema.getTypeMap()
    expect(String(gateway.schema.getQueryType()?.getFields()['zooGetPet']?.type)).toBe('ZooPet')
    expect(types).toHaveProperty('ZooDate')
    expect(types).not.toHaveProperty('ZooDateTime')
  })
})

describe('what the config declares by hand keeps its name', () => {
  it.each<[string, GatewayConfig]>([
    [
      'an endpoint beside the document',
      { rest: { zoo: { ...zoo, endpoints: [{ name: 'getPet', path: '/mine', returnType: 'String' }] } } },
    ],
    [
      'an endpoint of a later source',
      {
        rest: {
          zoo,
          own: { baseUrl, endpoints: [{ name: 'getPet', path: '/mine', returnType: 'String' }] },
        },
      },
    ],
    ['a root field of typeDefs', { typeDefs: 'type Query { getPet: String }', rest: { zoo } }],
  ])('%s', async (_, config) => {
    const { schema, notes } = await start(config, documents)
    const fields = schema.getQueryType()?.getFields() ?? {}
    expect(String(fields['getPet']?.type)).toBe('String')
    expect(String(fields['zooGetPet']?.type)).toBe('Pet')
    expect(notes).toHaveLength(1)
  })

  it.each<[string, GatewayConfig['rest']]>([
    [
      'a type of another source',
      {
        zoo,
        own: {
          baseUrl,
          endpoints: [{ name: 'mine', path: '/mine', returnType: 'Pet' }],
          types: { Pet: { kind: 'object', fields: { own: { type: 'String' } } } },
        },
      },
    ],
    [
      'a type of another source’s answer',
      {
        zoo,
        own: {
          baseUrl,
          endpoints: [
            {
              name: 'mine',
              path: '/mine',
              responseSchema: {
                typeName: 'Mine',
                fields: { pet: { type: '[Pet!]', fields: { own: 'string' } } },
              },
            },
          ],
        },
      },
    ],
    [
      'a type that another document’s rename names',
      { zoo, shop: { ...shop, openapi: { file: 'shop.json', rename: { Error: 'Pet', Pet: 'ShopPet' } } } },
    ],
  ])('%s', async (_, rest) => {
    const { schema } = await start({ rest }, documents)
    expect(Object.keys(schema.getTypeMap())).toEqual(expect.arrayContaining(['Pet', 'ZooPet']))
    expect(String(schema.getQueryType()?.getFields()['getPet']?.type)).toBe('ZooPet')
  })
})

it('a document of which much is left out fills no log: check tells all of it', async () => {
  const odd = { requestBody: { required: true, ...json({ type: 'string' }) }, responses: {} }
  const paths = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`/odd${index}`, { get: odd }]))
  const baseDirectory = await temporaryFolder('notes')
  const document = { openapi: '3.0.3', info: { title: 'Odd', version: '1' }, paths }
  await writeFile(join(baseDirectory, 'odd.json'), JSON.stringify(document))
  const lines: string[] = []
  const logger = await createLogger({
    level: 'warn',
    destination: { write: (line) => void lines.push(line) },
  })
  const config = { rest: { odd: { baseUrl: 'http://127.0.0.1:1', openapi: 'odd.json' } } }
  const gateway = await openGateway(config, { baseDirectory, logger })
  expect(gateway.notes).toHaveLength(50)
  expect(lines).toHaveLength(21)
  expect(lines.at(-1)).toContain('rest.odd: 30 more notes; run vinyasa check to list all of them')

  await writeFile(join(baseDirectory, 'gateway.config.json'), JSON.stringify(config))
  const told: string[] = []
  await run(['check'], {
    directory: baseDirectory,
    environment: {},
    shutdown: new AbortController().signal,
    reload: new EventTarget(),
    print: (line) => told.push(line),
    printError: () => {},
  })
  expect(told.filter((line) => line.startsWith('note     odd: #/paths/~1odd'))).toHaveLength(50)
})
