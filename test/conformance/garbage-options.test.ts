import { createGrpcSource } from '@vinyasa/grpc-source'
import { createRestConnector } from '@vinyasa/rest-connector'
import { expect, it } from 'vitest'

// JavaScript takes any value for any option: what cannot be meant is refused by the errors that people know, which have codes,
// or does no harm; nothing of the inside comes out.

const GARBAGE: readonly unknown[] = [null, 1, 'x y', [], {}, true, [null], { a: 1 }]

const REST = {
  baseUrl: 'http://127.0.0.1:1',
  defaultHeaders: { a: 'b' },
  forwardHeaders: ['x'],
  retry: { maxRetries: 1 },
  timeoutMs: 10,
  logBodies: {},
  types: {
    Place: { kind: 'object', fields: { cityId: { type: 'ID' }, deep: { type: 'E', key: 'a.b' } } },
    E: { kind: 'enum', values: { A: { value: 'a' } } },
    U: {
      kind: 'union',
      members: { Place: { required: ['cityId'], constants: { k: ['a'] } } },
      discriminator: { key: 'k', types: { a: 'Place' } },
    },
    I: { kind: 'input', fields: { a: { type: 'Int', key: 'b' } } },
  },
  typeNames: { Place: 'Ort' },
  endpoints: [
    {
      name: 'item',
      path: '/items/{id}',
      method: 'GET',
      args: { id: 'ID!', n: { type: 'Int', default: 3 } },
      description: 'd',
      headers: { a: '{id}' },
      queryParams: { q: '{n}' },
      responsePath: '$',
      returnType: 'Item',
      dependsOn: ['Y'],
      liveQuery: { enabled: true, triggers: ['Item.update'] },
      responseSchema: {
        typeName: 'Item',
        fields: { id: 'id!', place: 'Place', tags: { type: '[string]' }, o: { type: 'int', key: 'x' } },
      },
    },
    {
      name: 'add',
      path: '/items',
      method: 'POST',
      args: { a: 'Int' },
      bodyTemplate: '{ "a": {a} }',
      changes: ['Item'],
      invalidates: [{ entityType: 'Item', operation: 'create' }],
    },
    {
      name: 'up',
      path: '/up',
      method: 'POST',
      args: { a: 'I', b: 'Int' },
      body: { arg: 'a', contentType: 'application/json' },
      parameters: [{ name: 'q', in: 'query', arg: 'b', style: 'form' }],
    },
    {
      name: 'cities',
      path: '/cities',
      args: { ids: '[ID!]!' },
      queryParams: { ids: '{ids}' },
      returnType: '[City!]',
      rootField: false,
      responseSchema: { typeName: 'City', fields: { id: 'id!', name: 'string' } },
      on: {
        type: 'Place',
        field: 'city',
        args: { ids: '{cityId}' },
        batch: { key: 'id', many: false, maxBatchSize: 3 },
      },
    },
  ],
}

const GRPC = {
  name: 'users',
  protoText: {
    'u.proto': `syntax = "proto3"; package p;
      service S { rpc GetUser(U) returns (U); rpc BatchUsers(Us) returns (Us); }
      message U { string id = 1; string name = 2; }
      message Us { repeated string ids = 1; repeated U users = 2; }`,
  },
  endpoint: '127.0.0.1:1',
  expose: 'all',
  timeoutMs: 10,
  metadata: { static: { a: 'b' } },
  forwardHeaders: ['x'],
  responseHeaders: ['x'],
  retry: { maxRetries: 1 },
  typeNames: { 'p.U': 'Person' },
  channel: { keepalive: { timeMs: 1_000 } },
  federation: { entities: {} },
  exposeErrors: true,
  methods: {
    'p.S.GetUser': {
      schema: { name: 'user', type: 'QUERY' },
      retry: { maxRetries: 0 },
      timeoutMs: 4,
      liveQuery: { enabled: true, triggers: ['U.update'] },
      dependsOn: ['U'],
    },
  },
  fields: { 'p.U.name': { name: 'title' } },
  joins: [
    {
      type: 'Person',
      field: 'friend',
      batch: {
        method: 'p.S.BatchUsers',
        keys: 'ids',
        items: 'users',
        parentKey: 'title',
        itemKey: 'id',
        many: false,
        maxBatchSize: 3,
      },
    },
  ],
}

/** The same options with something else in place of each value, one at a time. */
function* spoilt(value: unknown, path: string): Generator<readonly [string, unknown]> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, own] of Object.entries(value)) {
    const put = (other: unknown): unknown => {
      const copy: any = Array.isArray(value) ? [...value] : { ...value }
      copy[key] = other
      return copy
    }
    const place = `${path}.${key}`
    // What holds options may be a text as well, or a flag.
    const isLeaf = typeof own !== 'object' || (Array.isArray(own) && typeof own[0] === 'string')
    for (const other of isLeaf ? GARBAGE : [null]) yield [`${place} = ${JSON.stringify(other)}`, put(other)]
    for (const [where, below] of spoilt(own, place)) yield [where, put(below)]
  }
}

it.each([
  ['a REST connector', REST, (options: any) => createRestConnector('c', options)],
  ['a gRPC source', GRPC, (options: any) => createGrpcSource(options)],
])('%s refuses what cannot be meant by errors that have codes', async (_, base, create) => {
  const open = async (options: unknown): Promise<void> => {
    const opened = await create(options)
    await opened.close()
  }
  await open(base)
  const wrong: string[] = []
  let refused = 0
  for (const [what, options] of spoilt(base, '')) {
    try {
      await open(options)
    } catch (error) {
      refused++
      if (typeof (error as { code?: unknown }).code !== 'string' || error instanceof TypeError)
        wrong.push(`${what}: ${String(error)}`)
    }
  }
  expect(wrong).toEqual([])
  expect(refused).toBeGreaterThan(150)
})
