import { describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { createLogger } from '../src/logging/logger.ts'
import { openGateway, OWN_SCHEMA } from './support/gateway.ts'

// Types that settings name and nothing has: in silence an answer would be kept, and no live query would hear of a change.

it('a type that the cache is to ignore stops the start where there is none', async () => {
  const config = { ...OWN_SCHEMA, responseCache: { ignoredTypes: ['Item', 'Itme'] } }
  await expect(openGateway(config)).rejects.toThrow(
    'responseCache.ignoredTypes[1]: the schema has no type "Itme"; did you mean "Item"?',
  )
})

const PROTO = `syntax = "proto3"; package p; import "graphql.proto";
  message User { string id = 1; } message Empty {}
  service Users { rpc GetUser(Empty) returns (User) {
    option (graphql.schema) = { type: QUERY name: "user" };
    option (graphql.live_query) = { enabled: true triggers: ["Usr.update"] };
  } }`

const fields = { id: 'id' } as const
const endpoint = { name: 'user', path: '/user', responseSchema: { typeName: 'User', fields } }

describe('live queries of which no type is there are told of', () => {
  it.each<readonly [string, GatewayConfig, readonly string[]]>([
    [
      'triggers of the config',
      { ...OWN_SCHEMA, liveQuery: { fields: { item: { triggers: ['Itme.*'] } } } },
      ['item', 'Itme', 'Item'],
    ],
    [
      'dependsOn of the config',
      { ...OWN_SCHEMA, liveQuery: { fields: { hello: { dependsOn: ['Itme'] } } } },
      ['hello', 'Itme', 'Item'],
    ],
    [
      'triggers of a proto',
      { grpc: { a: { endpoint: '127.0.0.1:1', protoText: { 'p.proto': PROTO } } } },
      ['user', 'Usr', 'User'],
    ],
    [
      'triggers of an endpoint',
      {
        rest: {
          a: {
            baseUrl: 'http://127.0.0.1:1',
            endpoints: [{ ...endpoint, liveQuery: { enabled: true, triggers: ['Usr.update'] } }],
          },
        },
      },
      ['user', 'Usr', 'User'],
    ],
  ])('%s', async (_, config, [field, type, near]) => {
    const lines: string[] = []
    const write = (line: string): void => void lines.push(JSON.parse(line).msg)
    const logger = await createLogger({ level: 'warn', destination: { write } })
    const { notes } = await openGateway(config, { logger })
    const note = `Query.${field}: the schema has no type "${type}", which its live queries wait for; did you mean "${near}"? Only events from outside can be of that type`
    expect(notes).toEqual([{ source: 'liveQuery', note }])
    expect(lines).toContain(note)
  })

  it.each<readonly [string, GatewayConfig]>([
    ['any type', { ...OWN_SCHEMA, liveQuery: { fields: { item: { triggers: ['*.update'] } } } }],
    [
      'one of several',
      { ...OWN_SCHEMA, liveQuery: { fields: { item: { triggers: ['Item.*', 'Order.*'] } } } },
    ],
    ['the field itself', { ...OWN_SCHEMA, liveQuery: { fields: { item: { triggers: ['Query.item'] } } } }],
    ['a list of none', { ...OWN_SCHEMA, liveQuery: { fields: { item: { triggers: [] } } } }],
    [
      'a type under another name',
      {
        rest: {
          a: {
            baseUrl: 'http://127.0.0.1:1',
            prefix: 'My',
            endpoints: [{ ...endpoint, liveQuery: { enabled: true, triggers: ['User.update'] } }],
          },
        },
      },
    ],
  ])('but not %s', async (_, config) => {
    expect((await openGateway(config)).notes).toEqual([])
  })
})
