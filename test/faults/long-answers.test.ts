import { createDisposables, requestMultipart, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { reply } from './hostile/frames.ts'
import { startRawGrpc } from './hostile/raw-grpc.ts'
import { median, ms, recordFigure } from './support/figures.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'
import { LOOP_PROBE, turnsOf, type Turns } from './support/loop.ts'

const PROTO = `syntax = "proto3"; package h;
service Users { rpc List(ListRequest) returns (Users_); }
message ListRequest { int32 turn = 1; }
message Users_ { repeated User users = 1; }
message User { string id = 1; string name = 2; string email = 3; int32 age = 4; repeated string tags = 5; }`
const COUNT = 20_000
const ROUNDS = 5
const FIELDS = 'id name email age tags'

const row = (index: number): Record<string, unknown> => ({
  id: `${index}`,
  name: `name of ${index}`,
  email: `user${index}@example.com`,
  age: index % 90,
  tags: ['a', `tag ${index % 7}`],
})

function text(number: number, bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes as string)
  return Buffer.concat([Buffer.of(number * 8 + 2, content.length), content])
}

const user = (index: number): Buffer =>
  text(
    1,
    Buffer.concat([
      text(1, `${index}`),
      text(2, `name of ${index}`),
      text(3, `user${index}@example.com`),
      Buffer.of(32, index % 90),
      text(5, 'a'),
      text(5, `tag ${index % 7}`),
    ]),
  )

const disposables = createDisposables(afterAll)
let gateway: RunningGateway
let turn = 0

beforeAll(async () => {
  const list = Buffer.concat(Array.from({ length: COUNT }, (_, index) => user(index)))
  const grpc = disposables.use(
    await startRawGrpc({ onRequest: (_, stream, _message, send) => send(reply(stream, list)) }),
  )
  const json = Array.from({ length: COUNT }, (_, index) => row(index))
  const rest = disposables.use(await startRestBackend(() => ({ json })))
  const fields = { id: 'id', name: 'string', email: 'string', age: 'int', tags: '[string]' }
  gateway = disposables.use(
    await startGateway({
      untilReady: false,
      args: ['--preset', 'production'],
      env: { NODE_OPTIONS: LOOP_PROBE.join(' ') },
      config: {
        responseCache: { defaultTtlMs: 60_000 },
        grpc: {
          users: {
            endpoint: grpc.address,
            protoText: { 'h.proto': PROTO },
            methods: { 'h.Users.List': { schema: { name: 'list' } } },
          },
        },
        rest: {
          api: {
            baseUrl: rest.url,
            endpoints: [
              {
                name: 'rows',
                path: '/rows',
                returnType: '[Row]',
                responseSchema: { typeName: 'Row', fields },
              },
              { name: 'any', path: '/any' },
            ],
          },
        },
      },
    }),
  )
})

it.each([
  ['gRPC', 'a list of 20,000 objects', `{ list { users { ${FIELDS} } } }`, 'list.users', true],
  ['REST', 'a list of 20,000 objects', `{ rows { ${FIELDS} } }`, 'rows', true],
  ['REST', 'JSON of 20,000 objects', '{ any }', 'any', true],
  ['cache', 'a hit of 20,000 objects', `{ rows { ${FIELDS} } }`, 'rows', false],
])('%s: %s takes many turns of the event loop', async (area, fault, query, path, isFresh) => {
  const { longest, bound } = await lookAtTurns(area, fault, async () => {
    const headers: Record<string, string> = isFresh ? { authorization: `a ${turn++}` } : {}
    const { data } = await gateway.query(query, {}, headers)
    return path.split('.').reduce((value, key) => value[key], data)
  })
  expect(longest).toBeLessThan(bound)
})

it('defer: a deferred list of 20,000 objects takes many turns of the event loop', async () => {
  const { longest, bound } = await lookAtTurns('defer', 'a deferred list of 20,000 objects', async () => {
    const response = await requestMultipart(`${gateway.url}/graphql`, {
      body: { query: `{ __typename ... @defer { rows { ${FIELDS} } } }` },
      headers: { authorization: `a ${turn++}` },
    })
    const parts = (await response.allParts()).map((part) => part.json())
    return parts.flatMap(({ incremental = [] }) => incremental)[0].data.rows
  })
  expect(longest).toBeLessThan(bound)
})

/** Asks again and again for the same rows, and looks at the turns of the gateway's loop meanwhile. */
async function lookAtTurns(
  area: string,
  fault: string,
  ask: () => Promise<any>,
): Promise<{ readonly longest: number; readonly bound: number }> {
  const seen: Turns[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    let rows: any
    const turns = await turnsOf(gateway.process, async () => {
      rows = await ask()
    })
    expect(rows).toHaveLength(COUNT)
    expect(rows[COUNT - 1]).toEqual(row(COUNT - 1))
    // The first one also compiles.
    if (round > 0) seen.push(turns)
  }
  const longest = median(seen.map(({ longestMs }) => longestMs))
  const all = median(seen.map(({ allMs }) => allMs))
  recordFigure({
    area,
    fault,
    asked: 'no turn of the loop over a quarter of the processor time of all, or 20 ms',
    seen: `longest turn ${ms(longest)} of ${ms(all)}`,
  })
  return { longest, bound: Math.max(all / 4, 20) }
}
