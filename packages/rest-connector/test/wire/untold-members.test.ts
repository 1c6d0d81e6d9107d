import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterAll, describe, expect, it } from 'vitest'
import {
  createRestConnector,
  importOpenApi,
  useRestConnector,
  type TypeDefinitions,
} from '../../src/index.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
let reply: unknown
const backend = cleanup.use(await startRestBackend(() => ({ json: reply })))

type Union = Extract<TypeDefinitions[string], { readonly kind: 'union' }>
type Members = Omit<Union, 'kind'>

function serve(kind: 'union' | 'interface', definition: Members) {
  const object = (own: string) =>
    ({
      kind: 'object',
      fields: { id: { type: 'ID' }, [own]: { type: 'String' } },
      ...(kind === 'interface' && { interfaces: ['Pet'] }),
    }) as const
  const connector = cleanup.use(
    createRestConnector('pets', {
      baseUrl: backend.url,
      types: {
        Cat: object('purrs'),
        Dog: object('barks'),
        Pet:
          kind === 'union'
            ? { kind, ...definition }
            : { kind, fields: { id: { type: 'ID' } }, ...definition },
      },
      endpoints: [{ name: 'pet', path: '/pet', returnType: 'Pet' }],
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  /** The type that the object is shown as, in both ways of executing. */
  return async (object: unknown): Promise<string | undefined> => {
    reply = object
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ pet { __typename } }' }),
    })
    const { data, errors } = (await response.json()) as any
    return data.pet?.__typename ?? errors[0].extensions.code
  }
}

describe.each(['union', 'interface'] as const)('an %s', (kind) => {
  it.each<[string, Members]>([
    ['no signs', { members: { Cat: {}, Dog: {} } }],
    ['the same required members', { members: { Cat: { required: ['id'] }, Dog: { required: ['id'] } } }],
    ['in another order', { members: { Cat: { required: ['id', 'x'] }, Dog: { required: ['x', 'id'] } } }],
    [
      'constants that both can have',
      {
        members: {
          Cat: { constants: { kind: [1, 2] } },
          Dog: { required: ['kind'], constants: { kind: [2] } },
        },
      },
    ],
  ])('is refused if nothing tells its types apart: %s', (_, definition) => {
    expect(() => serve(kind, definition)).toThrow(
      /: the members .*Dog of Pet cannot be distinguished; set a discriminator/,
    )
  })

  it.each<[string, Members, object, string][][number]>([
    [
      'required',
      { members: { Cat: { required: ['purrs'] }, Dog: { required: ['barks'] } } },
      { barks: '1' },
      'Dog',
    ],
    [
      'more',
      { members: { Cat: { required: ['id'] }, Dog: { required: ['id', 'barks'] } } },
      { id: 1, barks: '1' },
      'Dog',
    ],
    ['nothing else', { members: { Cat: {}, Dog: { required: ['barks'] } } }, { id: 1 }, 'Cat'],
    [
      'constants',
      { members: { Cat: { constants: { kind: [1] } }, Dog: { constants: { kind: [2] } } } },
      { kind: 2 },
      'Dog',
    ],
    [
      'the discriminator and the rest',
      { members: { Cat: {}, Dog: {} }, discriminator: { key: 'kind', types: { cat: 'Cat' }, rest: 'Dog' } },
      { kind: 'wolf' },
      'Dog',
    ],
    [
      'no guess for a value that the discriminator does not name',
      { members: { Cat: {}, Dog: {} }, discriminator: { key: 'kind', types: { cat: 'Cat' } } },
      { kind: 'wolf', id: 1 },
      'REST_BAD_RESPONSE',
    ],
    ['being the only type', { members: { Dog: {} } }, { id: 1 }, 'Dog'],
    [
      'no guess where the discriminator is missing',
      {
        members: { Cat: { required: ['id'] }, Dog: { required: ['id'] } },
        discriminator: { key: 'kind', types: { cat: 'Cat', dog: 'Dog' } },
      },
      { id: 1 },
      'REST_BAD_RESPONSE',
    ],
  ])('shows an object as the type that it is told by: %s', async (_, definition, object, type) => {
    expect(await serve(kind, definition)(object)).toBe(type)
  })
})

it('a choice whose objects require the same member without describing it is JSON', async () => {
  const object = (own: string) => ({
    type: 'object',
    required: ['id'],
    properties: { [own]: { type: 'string' } },
  })
  const schema = { oneOf: [object('purrs'), object('barks')] }
  const responses = { 200: { description: 'ok', content: { 'application/json': { schema } } } }
  const { endpoints } = await importOpenApi({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { '/pet': { get: { operationId: 'pet', responses } } },
  })
  expect(endpoints).toMatchObject([{ returnType: 'JSON' }])
})
