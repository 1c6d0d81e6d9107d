import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { followLiveEvents, followLiveFrames, type MultipartPart, requestMultipart } from '@vinyasa/test-kit'

export interface Backends {
  /** `host:port` of a gRPC server with `UserService`. */
  readonly grpc: string
  /** URL of a REST server with `/v1/users/{id}`. */
  readonly rest: string
}

export interface Plugin {
  /** The folder in `packages/`. */
  readonly name: string
  /** The first example of its README, TypeScript, with the backends' addresses in place. Undefined: the host's own example. */
  code(backends: Backends): string | undefined
  /** Its whole README, for sentences that it must hold. */
  readonly readme: string
  /** Files that the example reads from where it runs. */
  readonly files?: Readonly<Record<string, string>>
  /** Asks the example, served under `url` (of the GraphQL endpoint), what its README says. */
  answers(url: string): Promise<void>
  /** The same over WebSocket, where the example serves one at `url` + `/live`. */
  answersOverSocket?(url: string): Promise<void>
}

const USERS_PROTO = `syntax = "proto3";
package demo.users.v1;
import "graphql.proto";

service UserService {
  rpc GetUser(GetUserRequest) returns (User) {
    option (graphql.schema) = { type: QUERY name: "user" };
  }
}
message GetUserRequest { string id = 1; }
message User { string id = 1; string name = 2; }
`

/** What the gRPC backend serves; the annotations stay with the client. */
export const SERVED_PROTO: string = USERS_PROTO.replace(/import .*\n/, '').replace(
  / \{\n.*option.*\n {2}\}/,
  ';',
)

interface Answer {
  readonly json: { readonly data?: any; readonly errors?: unknown }
  readonly headers: Headers
}

export async function post(url: string, query: string): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const text = await response.text()
  try {
    return { json: JSON.parse(text) as Answer['json'], headers: response.headers }
  } catch {
    throw new Error(`${response.status} instead of JSON: ${text.slice(0, 300)}`)
  }
}

function plugin(name: string, rest: Omit<Plugin, 'name' | 'readme' | 'code'>, to?: Plugin['code']): Plugin {
  const readme = readFileSync(new URL(`../../../packages/${name}/README.md`, import.meta.url), 'utf8')
  const [, example] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []
  if (example === undefined) throw new Error(`No example in the README of ${name}`)
  return { name, readme, code: to ?? (() => example), ...rest }
}

/** The README's first example with texts in place of others; each must be there. */
function replacing(
  name: string,
  texts: (backends: Backends) => Readonly<Record<string, string>>,
): Plugin['code'] {
  return (backends) => {
    let code = plugin(name, { answers: async () => {} }).code(backends) ?? ''
    for (const [text, other] of Object.entries(texts(backends))) {
      if (!code.includes(text)) throw new Error(`${text} is not in the example of ${name}`)
      code = code.replace(text, other)
    }
    return code
  }
}

/** Follows a live query until an update that `change` made. */
async function updates(
  follow: typeof followLiveEvents | typeof followLiveFrames,
  url: string,
  endpoint: string,
) {
  const seen: any[] = []
  const leave = new AbortController()
  const query = 'query @live { todos { id text } }'
  const onUpdate = ({ data }: { data?: unknown }): void => {
    seen.push(data)
    if (seen.length === 1) void post(endpoint, 'mutation { addTodo(text: "Feed the cat") { id } }')
    else leave.abort()
  }
  const late = AbortSignal.timeout(60_000)
  await Promise.resolve(
    follow(url, { query, onUpdate, signal: AbortSignal.any([leave.signal, late]) }),
  ).catch((error: unknown) => {
    if (!leave.signal.aborted) throw error
  })
  const [first, second] = seen
  assert.equal(second?.todos.length, first.todos.length + 1)
  assert.equal(second.todos.at(-1).text, 'Feed the cat')
}

/**
 * Asks until the first part is there while the others are not. A server that keeps parts back never gives that; on a
 * busy machine one that does not may look like it once.
 */
async function apart(ask: () => Promise<readonly MultipartPart[]>): Promise<readonly MultipartPart[]> {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const parts = await ask()
    if (parts[0]!.at < parts.at(-1)!.at) return parts
  }
  return assert.fail('the parts came at once, five times')
}

export const plugins: readonly Plugin[] = [
  plugin('defer-splitter', {
    async answers(url) {
      const query = '{ user { name ... @defer(label: "reviews") { reviews } } }'
      const parts = await apart(async () =>
        (await requestMultipart(`${url}/defer`, { body: { query } })).allParts(60_000),
      )
      assert.deepEqual(
        parts.map((part) => part.json()),
        [
          { data: { user: { name: 'Ada' } }, hasNext: true },
          {
            incremental: [{ data: { reviews: ['five stars'] }, path: ['user'], label: 'reviews' }],
            hasNext: false,
          },
        ],
      )
    },
  }),
  plugin('live-query', {
    answers: (url) => updates(followLiveEvents, url, url),
    answersOverSocket: (url) => updates(followLiveFrames, `${url}/live`, url),
  }),
  plugin('response-cache', {
    async answers(url) {
      const outcome = async (query: string) => (await post(url, query)).headers.get('x-cache')
      const before = (await post(url, '{ users { name } }')).json.data.users.length
      assert.equal(await outcome('{ users { name } }'), 'HIT')
      await post(url, 'mutation { add(name: "Eve") { name } }')
      const after = await post(url, '{ users { name } }')
      assert.equal(after.headers.get('x-cache'), 'MISS')
      assert.equal(after.json.data.users.length, before + 1)
      assert.equal(await outcome('{ users { name } }'), 'HIT')
    },
  }),
  plugin('node-handler', {
    async answers(url) {
      assert.deepEqual((await post(url, '{ hello }')).json, { data: { hello: 'world' } })
    },
  }),
  plugin(
    'grpc-source',
    {
      files: { 'users.proto': USERS_PROTO },
      async answers(url) {
        assert.deepEqual((await post(url, '{ user(id: "1") { id name } }')).json, {
          data: { user: { id: '1', name: 'Ada' } },
        })
      },
    },
    replacing('grpc-source', ({ grpc }) => ({ 'localhost:50051': grpc })),
  ),
  plugin(
    'rest-connector',
    {
      async answers(url) {
        assert.deepEqual((await post(url, '{ getUser(id: "1") { id name } }')).json, {
          data: { getUser: { id: '1', name: 'Ada' } },
        })
        assert.deepEqual((await post(url, 'mutation { createUser(name: "Eve") { name } }')).json, {
          data: { createUser: { name: 'Eve' } },
        })
      },
    },
    replacing('rest-connector', ({ rest }) => ({ 'https://api.example.com': rest })),
  ),
]
