import { describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { createLogger } from '../src/logging/logger.ts'
import { openGateway, OWN_SCHEMA } from './support/gateway.ts'

// Types that settings name and nothing has: in silence an answer would be kept, and no live query would hear of a change.

it('refuses to start if a lifetime names a type that the schema does not have', async () => {
  const config = { ...OWN_SCHEMA, responseCache: { ttlMsBySchemaCoordinate: { Item: 0, Itme: 0 } } }
  await expect(openGateway(config)).rejects.toThrow(
    'responseCache.ttlMsBySchemaCoordinate.Itme: the schema has no such field or type; did you mean "Item"?',
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
    const note = `Query.${field}: live queries of this field wait for events of "${type}", but the schema has no such type; did you mean "${near}"? Correct triggers or dependsOn, unless external invalidation events use this type name.`
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

it('statements of sources about no type, and examples that nothing answers, are told of', async () => {
  const logger = await createLogger({ level: 'silent' })
  const config: GatewayConfig = {
    rest: {
      a: {
        baseUrl: 'http://127.0.0.1:1',
        endpoints: [
          { ...endpoint, dependsOn: ['Usr'] },
          { ...endpoint, name: 'set', method: 'POST', changes: ['Usr'] },
          { ...endpoint, name: 'all', dependsOn: ['*'] },
        ],
      },
    },
    graphql: {
      examples: [
        { query: '{ user { id } }' },
        { query: '{ usr { id } }' },
        { query: '{ user', variables: '{' },
      ],
    },
  }
  const { notes } = await openGateway(config, { logger })
  expect(notes.map(({ source, note }) => `${source}: ${note}`)).toEqual([
    'dependencies: Query.user: dependsOn lists "Usr", but the schema has no such type; did you mean "User"?',
    'dependencies: Mutation.set: changes lists "Usr", but the schema has no such type; did you mean "User"?',
    expect.stringMatching(/^graphql: graphql.examples\[1\].query: Cannot query field "usr"/),
    expect.stringMatching(/^graphql: graphql.examples\[2\].query: Syntax Error/),
    expect.stringMatching(/^graphql: graphql.examples\[2\].variables: Expected property name/),
  ])
})
