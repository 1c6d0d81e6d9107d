import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { status } from '@grpc/grpc-js'
import { createRandom, grpcError, spawnProcess, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { mergeDeferred } from '../bench/src/merge-deferred.ts'
import { openFolder } from '../pairs/start.ts'

// A started gateway that shares calls and keeps answers is asked for many things at once, by several people: each gets what
// the data has for them. `ANSWERS` says how many (default 4,000); 64,000 take some minutes.

const MAIN = fileURLToPath(new URL('../../apps/gateway/dist/main.js', import.meta.url))
const ANSWERS = Number(process.env['ANSWERS'] ?? 4_000)
/** Requests under way at a time. */
const CLIENTS = 64
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20261127)
const COUNT = 200

const PROTO = `syntax = "proto3"; package p;
service Users {
  rpc GetUser(Id) returns (User);
  rpc ListUsers(Limit) returns (UserList);
  rpc UsersById(Ids) returns (UserList);
  rpc TouchUser(Id) returns (User);
}
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
message Limit { int32 limit = 1; }
message User { string id = 1; string name = 2; int64 number = 3; string item_id = 4; repeated string tags = 5; }
message UserList { repeated User users = 1; }`

const ids = Array.from({ length: COUNT }, (_, at) => at + 1)

/** Everybody is shown other names, so that one who gets another's is seen. */
function userOf(id: number, caller: string) {
  return {
    id: String(id),
    name: `User ${id} for ${caller}`,
    number: String(9_007_199_254_740_993n + BigInt(id)),
    itemId: String(((id * 7) % COUNT) + 1),
    tags: id % 3 === 0 ? ['three', ''] : [],
  }
}

function itemOf(id: number, caller: string) {
  const ownerId = id % 5 === 0 ? null : String(((id * 3) % COUNT) + 1)
  return { id: String(id), title: `Item ${id} for ${caller}`, ownerId, weight: id / 8 }
}

async function startGateway(): Promise<string> {
  const asked = (metadata: { get(name: string): readonly unknown[] }): string =>
    String(metadata.get('x-user')[0] ?? '')
  const one = ({ id }: { id: string }, caller: string): object => {
    if (!ids.includes(Number(id))) throw grpcError(status.NOT_FOUND, `no user ${id}`)
    return userOf(Number(id), caller)
  }
  const users = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'p.Users/GetUser': (request, { metadata }) => one(request, asked(metadata)),
      'p.Users/TouchUser': (request, { metadata }) => one(request, asked(metadata)),
      'p.Users/ListUsers': ({ limit }, { metadata }) => ({
        users: ids.slice(0, limit).map((id) => userOf(id, asked(metadata))),
      }),
      'p.Users/UsersById': (request, { metadata }) => ({
        users: (request.ids as string[]).toReversed().map((id) => userOf(Number(id), asked(metadata))),
      }),
    },
  })
  onTestFinished(() => users.stop())
  const items = await startRestBackend(({ url, headers }) => {
    const caller = String(headers['x-user'] ?? '')
    const [, , id] = url.pathname.split('/')
    if (id !== undefined)
      return ids.includes(Number(id)) ? { json: itemOf(Number(id), caller) } : { status: 404, json: {} }
    const wanted = url.searchParams.getAll('ids').map(Number)
    const limit = Number(url.searchParams.get('limit') ?? 0)
    return { json: (limit ? ids.slice(0, limit) : wanted.toReversed()).map((one) => itemOf(one, caller)) }
  })
  onTestFinished(() => items.stop())
  const folder = openFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const file = join(folder.path, 'gateway.config.json')
  await writeFile(join(folder.path, 'users.proto'), PROTO)
  await writeFile(file, JSON.stringify(configOf(users.address, items.url)))
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [MAIN, 'start', '--config', file, '--port', '0', '--preset', 'production'],
    ready: /"url":"(http:[^"]+\/graphql)".*"msg":"gateway ready"/,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  return gateway.ready?.[1] ?? ''
}

function configOf(endpoint: string, baseUrl: string): object {
  const query = (name: string, response = {}): object => ({ schema: { type: 'QUERY', name, response } })
  const item = {
    id: { type: 'ID!' },
    title: { type: 'String' },
    ownerId: { type: 'ID' },
    weight: { type: 'Float' },
  }
  return {
    graphql: { batching: 10 },
    responseCache: { defaultTtlMs: 60_000 },
    defer: 'default',
    grpc: {
      users: {
        endpoint,
        protoFiles: ['users.proto'],
        forwardHeaders: ['x-user'],
        dedupe: 'inflight',
        expose: ['p.Users.TouchUser'],
        methods: {
          'p.Users.GetUser': query('user'),
          'p.Users.ListUsers': query('users', { pluck: 'users' }),
        },
        joins: [
          {
            type: 'Item',
            field: 'owner',
            batch: { method: 'p.Users.UsersById', keys: 'ids', items: 'users', parentKey: 'ownerId' },
          },
        ],
      },
    },
    rest: {
      items: {
        baseUrl,
        healthPath: false,
        forwardHeaders: ['x-user'],
        types: { Item: { kind: 'object', fields: item } },
        endpoints: [
          { name: 'item', path: '/items/{id}', args: { id: 'ID!' }, returnType: 'Item' },
          {
            name: 'items',
            path: '/items',
            args: { limit: 'Int' },
            queryParams: { limit: '{limit}' },
            returnType: '[Item!]',
          },
          {
            name: 'itemsById',
            path: '/items',
            args: { ids: '[ID!]!' },
            queryParams: { ids: '{ids}' },
            returnType: '[Item!]',
            rootField: false,
            on: { type: 'User', field: 'item', args: { ids: '{itemId}' }, batch: { key: 'id' } },
          },
        ],
      },
    },
  }
}

interface Asked {
  readonly query: string
  readonly variables?: object
  readonly data: unknown
  /** Codes of its errors. */
  readonly codes?: readonly string[]
}

type Draw = (id: number, caller: string) => Asked

const USER = 'id name number tags'
const user = (id: number, caller: string): object => {
  const { itemId: _, ...rest } = userOf(id, caller)
  return rest
}
const ownerOf = (id: number, caller: string): object | null => {
  const { ownerId } = itemOf(id, caller)
  return ownerId === null ? null : { name: userOf(Number(ownerId), caller).name }
}
const itemOfUser = (id: number, caller: string): object => {
  const { itemId } = userOf(id, caller)
  return { title: itemOf(Number(itemId), caller).title, owner: ownerOf(Number(itemId), caller) }
}

const KINDS: Readonly<Record<string, Draw>> = {
  'one by a variable': (id, caller) => ({
    query: `query ($id: String) { user(id: $id) { ${USER} } }`,
    variables: { id: String(id) },
    data: { user: user(id, caller) },
  }),
  'one by a literal': (id, caller) => ({
    query: `{ user(id: "${id}") { ${USER} } }`,
    data: { user: user(id, caller) },
  }),
  'a list': (id, caller) => ({
    query: `{ users(limit: ${id % 40}) { id name } }`,
    data: {
      users: ids.slice(0, id % 40).map((one) => ({ id: String(one), name: userOf(one, caller).name })),
    },
  }),
  'joins there and back': (id, caller) => ({
    query: `{ users(limit: ${id % 20}) { item { title owner { name } } } }`,
    data: { users: ids.slice(0, id % 20).map((one) => ({ item: itemOfUser(one, caller) })) },
  }),
  'one of REST': (id, caller) => ({
    query: 'query ($id: ID!) { item(id: $id) { id title weight owner { name } } }',
    variables: { id: String(id) },
    data: {
      item: {
        id: String(id),
        title: itemOf(id, caller).title,
        weight: itemOf(id, caller).weight,
        owner: ownerOf(id, caller),
      },
    },
  }),
  'a list of REST': (id, caller) => ({
    query: `query Items($most: Int) { items(limit: $most) { ...T } } fragment T on Item { title }`,
    variables: { most: (id % 30) + 1 },
    data: { items: ids.slice(0, (id % 30) + 1).map((one) => ({ title: itemOf(one, caller).title })) },
  }),
  'both sources, twice': (id, caller) => ({
    query: `query ($yes: Boolean!) { a: user(id: "${id}") { name } b: item(id: "${id}") { title } c: user(id: "1") { name @include(if: $yes) id } }`,
    variables: { yes: id % 2 === 0 },
    data: {
      a: { name: userOf(id, caller).name },
      b: { title: itemOf(id, caller).title },
      c: { ...(id % 2 === 0 && { name: userOf(1, caller).name }), id: '1' },
    },
  }),
  'what is not there, beside what is': (id, caller) => ({
    query: `{ no: user(id: "${id + COUNT}") { id } neither: item(id: "${id + COUNT}") { id } yes: user(id: "${id}") { name } }`,
    data: { no: null, neither: null, yes: { name: userOf(id, caller).name } },
    codes: ['NOT_FOUND', 'NOT_FOUND'],
  }),
  'in parts': (id, caller) => ({
    query: `{ user(id: "${id}") { id ... @defer { item { title owner { name } } } } }`,
    data: { user: { id: String(id), item: itemOfUser(id, caller) } },
  }),
  'a change': (id, caller) => ({
    query: `mutation { touchUser(id: "${id}") { name } }`,
    data: { touchUser: { name: userOf(id, caller).name } },
  }),
}

interface Answer {
  readonly data?: unknown
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[]
}

function partsOf(text: string): readonly Answer[] {
  return text.split(/\r\n---(?:--)?\r\n/).flatMap((part) => {
    const at = part.indexOf('{')
    return at < 0 ? [] : [JSON.parse(part.slice(at)) as Answer]
  })
}

it(
  `${ANSWERS.toLocaleString('en')} answers at once are what the data has`,
  { timeout: 900_000 },
  async () => {
    const url = await startGateway()
    const kinds = Object.entries(KINDS)
    const counts = new Map<string, number>()
    const wrong: string[] = []
    let left = ANSWERS
    let hits = 0

    async function send(caller: string, body: unknown, isGet: boolean): Promise<readonly Answer[]> {
      const headers = {
        'x-user': caller,
        'content-type': 'application/json',
        'x-graphql-csrf': '1',
        accept: 'multipart/mixed;deferSpec=20220824, application/json',
      }
      const search = isGet ? `?query=${encodeURIComponent((body as Asked).query)}` : ''
      const response = await fetch(url + search, {
        headers,
        ...(!isGet && { method: 'POST', body: JSON.stringify(body) }),
      })
      if (response.headers.get('x-cache') === 'HIT') hits++
      const text = await response.text()
      if (response.headers.get('content-type')?.startsWith('multipart/')) {
        const parts = partsOf(`\r\n${text}`)
        return [{ data: mergeDeferred(parts as readonly Record<string, any>[]) }]
      }
      return [JSON.parse(text) as Answer | readonly Answer[]].flat()
    }

    async function client(_: unknown, number: number): Promise<void> {
      const random = createRandom(SEED, `client ${number}`)
      while (left > 0 && wrong.length < 5) {
        const caller = `u${random.below(8)}`
        const isBatch = random.below(8) === 0
        const drawn = Array.from({ length: isBatch ? 3 : 1 }, () => {
          const [kind, draw] = kinds[random.below(kinds.length)] as (typeof kinds)[number]
          return { kind, asked: draw(random.below(random.pick([5, COUNT])) + 1, caller) }
        }).filter(({ kind }) => !isBatch || kind !== 'in parts')
        if (drawn.length === 0) continue
        left -= drawn.length
        const bodies = drawn.map(({ asked: { query, variables } }) => ({ query, variables }))
        const [{ kind, asked }] = drawn as [(typeof drawn)[number]]
        const isGet = !isBatch && !asked.variables && kind !== 'a change' && random.below(4) === 0
        const answers = await send(caller, isBatch ? bodies : bodies[0], isGet)
        for (const [at, { kind, asked }] of drawn.entries()) {
          counts.set(kind, (counts.get(kind) ?? 0) + 1)
          const { data, errors = [] } = answers[at] ?? {}
          const codes = errors.map(({ extensions }) => extensions?.code)
          const [got, wanted] = [
            { data, codes },
            { data: asked.data, codes: asked.codes ?? [] },
          ]
          if (!isDeepStrictEqual(got, wanted))
            wrong.push(
              [kind, caller, asked.query, JSON.stringify(answers[at]), JSON.stringify(wanted)].join('\n'),
            )
        }
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    expect(wrong).toEqual([])
    process.stdout.write(`${ANSWERS - left} answers, ${hits} of them kept ones\n`)
    expect([...counts.keys()].toSorted()).toEqual(Object.keys(KINDS).toSorted())
    expect(hits).toBeGreaterThan(ANSWERS / 100)
  },
)
