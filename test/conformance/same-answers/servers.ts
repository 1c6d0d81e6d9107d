import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource, type GrpcSourceOptions, useGrpcSource } from '@vinyasa/grpc-source'
import { createInvalidationBus } from '@vinyasa/invalidation'
import { useLiveQuery } from '@vinyasa/live-query'
import { useResponseCache } from '@vinyasa/response-cache'
import { createRestConnector, type RestConnectorOptions, useRestConnector } from '@vinyasa/rest-connector'
import type { PlanEvent } from '@vinyasa/source-kit'
import type { Disposables } from '@vinyasa/test-kit'
import type { GraphQLSchema } from 'graphql'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { createUserBackend, PROTO } from './backends.ts'
import type { Asked } from './draw-document.ts'
import { ownFields, type OwnContext } from './own.ts'

// Servers of the same sources: without plans, with them, and with all that shares answers and calls.

export interface Server {
  readonly schema: GraphQLSchema
  /** One operation, or several in one request. */
  ask(asked: readonly Asked[], user: string, way: Way): Promise<string>
  /** Tells it of a change that was made elsewhere. */
  announce(entityType: string, entityId: string): Promise<void>
  /** Asks for a live query, and keeps what its stream brought last. */
  follow(asked: Asked, user: string): Promise<Followed>
}

export interface Followed {
  /** The data of the last event, or the whole body of what is no stream. */
  latest: string
  updates: number
  close(): void
}

/** What a client takes: one answer, one in parts, or one after another, of which it reads the first. */
export type Way = 'whole' | 'in parts' | 'live'

const ACCEPT: Readonly<Record<Way, string>> = {
  whole: 'application/json',
  'in parts': 'multipart/mixed;deferSpec=20220824, application/json',
  live: 'text/event-stream',
}

const RETRY = { maxRetries: 0 }
const reads = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`p.Users.${name}`, { retry: RETRY }]))
const query = (name: string, response = {}) => ({
  schema: { name, type: 'QUERY' as const, response },
  retry: RETRY,
})

const batch = { keys: 'ids', items: 'users' } as const
const joins: GrpcSourceOptions['joins'] = [
  ...['Item', 'Box'].map((type) => ({
    type,
    field: 'owner',
    batch: { ...batch, method: 'p.Users.ById', parentKey: 'ownerId' },
  })),
  { type: 'Own', field: 'owner', batch: { ...batch, method: 'p.Users.ById', parentKey: 'ownerId' } },
  { type: 'Place', field: 'user', batch: { ...batch, method: 'p.Users.ById', parentKey: 'userId' } },
  {
    type: 'Note',
    field: 'user',
    batch: { ...batch, method: 'p.Users.Alone', parentKey: 'userId', maxBatchSize: 1 },
  },
  {
    type: 'Item',
    field: 'sureOwner',
    required: true,
    batch: { ...batch, method: 'p.Users.ById', parentKey: 'ownerId' },
  },
  {
    type: 'Item',
    field: 'loneOwner',
    batch: { ...batch, method: 'p.Users.Alone', parentKey: 'ownerId', maxBatchSize: 1 },
  },
  { type: 'Item', field: 'oneOwner', method: 'p.Users.One', request: { id: 'ownerId' } },
  {
    type: 'Item',
    field: 'kin',
    batch: {
      method: 'p.Users.ByKind',
      keys: 'kinds',
      items: 'users',
      parentKey: 'colour',
      itemKey: 'kind',
      many: true,
    },
  },
  {
    type: 'User',
    field: 'mates',
    batch: {
      method: 'p.Users.Mates',
      keys: 'kinds',
      items: 'users',
      parentKey: 'kind',
      itemKey: 'kind',
      many: true,
      maxBatchSize: 1,
    },
  },
  {
    type: 'Item',
    field: 'numberedUser',
    batch: {
      method: 'p.Users.ByNumber',
      keys: 'numbers',
      items: 'users',
      parentKey: 'number',
      itemKey: 'number',
    },
  },
  {
    type: 'User',
    field: 'sameNumber',
    batch: {
      method: 'p.Users.ByNumber',
      keys: 'numbers',
      items: 'users',
      parentKey: 'number',
      itemKey: 'number',
      many: true,
    },
  },
]

const id = { id: 'ID!' }
const listed = {
  args: { ids: '[ID!]!' },
  queryParams: { ids: '{ids}' },
  returnType: '[Item]',
  rootField: false,
} as const
const fields = {
  id: { type: 'ID!' },
  ownerId: { type: 'ID' },
}
const signs = {
  members: { Item: {}, Box: {} },
  discriminator: { key: 'type', types: { item: 'Item', box: 'Box' } },
}
const rest: Pick<RestConnectorOptions, 'endpoints' | 'types'> = {
  types: {
    Colour: { kind: 'enum', values: { RED: { value: 'RED' }, BLUE: { value: 'BLUE' } } },
    Held: { kind: 'interface', fields, ...signs },
    Thing: { kind: 'union', ...signs },
    Item: {
      kind: 'object',
      interfaces: ['Held'],
      fields: {
        ...fields,
        name: { type: 'String' },
        nearId: { type: 'ID' },
        number: { type: 'Long' },
        colour: { type: 'Colour' },
        count: { type: 'Int!' },
        parts: { type: '[Item]' },
      },
    },
    Box: {
      kind: 'object',
      interfaces: ['Held'],
      fields: { ...fields, itemId: { type: 'ID' }, inside: { type: '[Item!]' } },
    },
  },
  endpoints: [
    { name: 'item', path: '/item/{id}', args: id, returnType: 'Item' },
    { name: 'sure', path: '/sure/{id}', args: id, returnType: 'Item!' },
    {
      name: 'items',
      path: '/items',
      args: { ids: '[ID!]', limit: { type: 'Int', default: 2 } },
      queryParams: { ids: '{ids}', limit: '{limit}' },
      returnType: '[Item]',
    },
    {
      name: 'things',
      path: '/things',
      args: { ids: '[ID!]' },
      queryParams: { ids: '{ids}' },
      returnType: '[Thing]',
    },
    { name: 'held', path: '/held', returnType: '[Held!]' },
    {
      name: 'owned',
      path: '/owned',
      ...listed,
      args: { ids: '[ID!]!', limit: 'Int' },
      queryParams: { ids: '{ids}', limit: '{limit}' },
      on: { type: 'User', field: 'items', args: { ids: '{id}' }, batch: { key: 'ownerId', many: true } },
    },
    {
      name: 'itemsById',
      path: '/itemsById',
      ...listed,
      on: { type: 'User', field: 'item', args: { ids: '{itemId}' }, batch: { key: 'id' } },
    },
    {
      name: 'itemsOfBoxes',
      path: '/itemsOfBoxes',
      ...listed,
      on: [
        { type: 'Box', field: 'item', args: { ids: '{itemId}' }, batch: { key: 'id' } },
        { type: 'Note', field: 'item', args: { ids: '{id}' }, batch: { key: 'id' } },
      ],
    },
    {
      name: 'itemsOfOwn',
      path: '/itemsOfOwn',
      ...listed,
      on: { type: 'Own', field: 'items', args: { ids: '{itemId}' }, batch: { key: 'id', many: true } },
    },
    {
      name: 'near',
      path: '/near',
      ...listed,
      on: { type: 'Item', field: 'near', args: { ids: '{nearId}' }, batch: { key: 'id', maxBatchSize: 1 } },
    },
    {
      name: 'numbered',
      path: '/numbered',
      ...listed,
      args: { numbers: '[Long!]!' },
      queryParams: { numbers: '{numbers}' },
      on: {
        type: 'Item',
        field: 'numbered',
        args: { numbers: '{number}' },
        batch: { key: 'number', many: true },
      },
    },
    {
      name: 'itemOf',
      path: '/itemOf/{id}',
      args: { id: 'ID!', tint: 'String' },
      queryParams: { tint: '{tint}' },
      returnType: 'Item',
      rootField: false,
      on: { type: 'User', field: 'oneItem', args: { id: '{itemId}' } },
    },
    {
      name: 'pair',
      path: '/pair/{owner}',
      args: { owner: 'ID!', item: 'ID!' },
      queryParams: { item: '{item}' },
      returnType: 'Item',
      rootField: false,
      on: { type: 'User', field: 'pair', args: { owner: '{id}', item: '{itemId}' } },
    },
    {
      name: 'setItem',
      path: '/setItem',
      method: 'POST',
      args: { id: 'ID!', name: 'String' },
      returnType: 'Item',
    },
  ],
}

export interface ServerOptions {
  readonly plans: boolean
  /** With all that shares calls and answers. */
  readonly isSharing: boolean
  readonly isReversed?: boolean
  readonly tell: (event: PlanEvent) => void
  readonly cleanup: Disposables
}

export async function createServer(options: ServerOptions): Promise<Server> {
  const { plans, isSharing, isReversed = false, tell: onPlan, cleanup } = options
  const bus = createInvalidationBus()
  const logger = { warn() {}, error() {}, info() {} }
  const forwardHeaders = ['x-user']
  const source = cleanup.use(
    await createGrpcSource({
      name: 'users',
      protoText: { 'users.proto': PROTO },
      endpoint: 'localhost:1',
      transport: await createUserBackend(),
      expose: ['p.Users.SetUser'],
      methods: {
        'p.Users.GetUser': query('user'),
        'p.Users.GetSure': query('sureUser', { required: true }),
        'p.Users.ListUsers': query('users'),
        'p.Users.Crowd': query('crowd', { pluck: 'users' }),
        'p.Users.Find': query('find'),
        ...reads('One', 'ById', 'Alone', 'ByKind', 'Mates', 'ByNumber'),
      },
      joins,
      forwardHeaders,
      dedupe: isSharing ? 'inflight' : 'operation',
      bus,
      plans,
      onPlan,
      logger,
    }),
  )
  const connector = cleanup.use(
    createRestConnector('things', {
      ...rest,
      baseUrl: 'http://rest',
      noRetry: true,
      forwardHeaders,
      cacheSize: isSharing ? 1_000 : 0,
      bus,
      plans,
      onPlan,
      logger,
    }),
  )
  const sources = [useGrpcSource(source), useRestConnector(connector)]
  let schema: GraphQLSchema | undefined
  const yoga = createYoga<object, OwnContext>({
    logging: false,
    maskedErrors: false,
    batching: true,
    schema: createSchema(ownFields()),
    plugins: [
      ...(isSharing ? [useResponseCache({ bus, varyHeaders: ['authorization', 'x-user'] })] : []),
      useLiveQuery({ bus, defaults: { enabled: true, throttleMs: 0 }, varyHeaders: ['x-user'] }),
      useDeferSplitter({ maxDeferredFragments: 10_000 }),
      ...(isReversed ? sources.toReversed() : sources),
      { onSchemaChange: ({ schema: changed }: { schema: GraphQLSchema }) => void (schema = changed) },
    ] as Plugin[],
  })
  await yoga.fetch('http://yoga/graphql?query={__typename}')
  if (!schema) throw new Error('there is no schema')
  const send = (body: unknown, user: string, way: Way, signal?: AbortSignal): Promise<Response> | Response =>
    yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      ...(signal && { signal }),
      headers: { 'content-type': 'application/json', 'x-user': user, accept: ACCEPT[way] },
      body: JSON.stringify(body),
    })
  return {
    schema,
    async ask(asked, user, way) {
      const body = asked.length === 1 ? asked[0] : asked
      if (way !== 'live') return (await send(body, user, way)).text()
      const client = new AbortController()
      const { latest } = await follow(await send(body, user, way, client.signal))
      client.abort()
      return latest
    },
    announce: async (entityType, entityId) =>
      void (await bus.publish([{ entityType, operation: 'update', entityId }])),
    async follow(asked, user) {
      const client = new AbortController()
      const followed = await follow(await send(asked, user, 'live', client.signal))
      return Object.assign(followed, { close: () => client.abort() })
    },
  }
}

/** Gives a stream once its first event is there; what is no stream is the data of one event. */
async function follow({ body, headers }: Response): Promise<Omit<Followed, 'close'>> {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream')
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  const followed = { latest: '', updates: 0 }
  let text = ''
  /** Returns whether there may be more. */
  async function read(): Promise<boolean> {
    const { done, value } = await reader.read()
    if (value) text += typeof value === 'string' ? (value as string) : decoder.decode(value, { stream: true })
    const whole = isStream ? text.split('\n\n') : done ? [`data: ${text}`, ''] : [text]
    text = whole.pop() ?? ''
    for (const event of whole) {
      const [, data] = /^data: (.+)$/m.exec(event) ?? []
      if (data === undefined) continue
      followed.latest = data
      followed.updates++
    }
    return !done
  }
  while (followed.updates === 0 && (await read())) continue
  void (async () => {
    while (await read().catch(() => false)) continue
  })()
  return followed
}
