import { createInvalidationBus } from '@vinyasa/invalidation'
import { describe, expect, it } from 'vitest'
import type { GrpcSourceOptions } from '../src/index.ts'
import { startBytesServer } from './bytes-server.ts'
import { disposables, source } from './harness.ts'

// Statements name messages by their short names; the schema may call them anything.

const users = (name: string): string => `
  syntax = "proto3"; package ${name}; import "graphql.proto";
  message User { string id = 1; }
  message Users { repeated User users = 1; }
  message Empty {}
  service ${name[0]!.toUpperCase()}${name.slice(1)} {
    rpc List${name}(Empty) returns (Users) {
      option (graphql.schema) = { type: QUERY name: "${name}" };
      option (graphql.live_query) = { enabled: true triggers: ["User.create"] depends_on: ["User"] };
    }
    rpc CreateUser(User) returns (Empty) { option (graphql.schema) = { type: MUTATION name: "create_${name}" }; }
  }`

const WAYS: readonly [string, string, Partial<GrpcSourceOptions>][] = [
  ['as it is', 'User', {}],
  ['typeNames', 'Person', { typeNames: { 'shop.User': 'Person' } }],
  ["typeNaming: 'qualified'", 'ShopUser', { typeNaming: 'qualified' }],
  [
    'a User before it',
    'ShopUser',
    { protoText: { 'bank.proto': users('bank'), 'shop.proto': users('shop') } },
  ],
  ['a User behind it', 'User', { protoText: { 'shop.proto': users('shop'), 'bank.proto': users('bank') } }],
  ['prefix', 'Shop_User', { prefix: 'Shop_' }],
  ['rename', 'Person', { rename: { User: 'Person' } }],
  ['typeNames and rename', 'Human', { typeNames: { 'shop.User': 'Person' }, rename: { Person: 'Human' } }],
]

describe.each(WAYS)('with %s a User is %s', (_way, client, options) => {
  async function open(more: Partial<GrpcSourceOptions> = {}) {
    const bus = createInvalidationBus()
    const events: string[] = []
    bus.subscribe((given) => void events.push(...given.map(({ entityType }) => entityType)))
    const server = disposables().use(await startBytesServer('/shop.Shop/CreateUser', () => new Uint8Array()))
    const opened = await source({
      protoText: { 'shop.proto': users('shop') },
      endpoint: server.address,
      bus,
      ...options,
      ...more,
    })
    return { opened, events }
  }
  const queryOf = ({ schema }: Awaited<ReturnType<typeof source>>) =>
    Object.values(schema.getQueryType()!.getFields()).find(({ name }) => /shop$/i.test(name))!

  it('there is such a type', async () => {
    expect((await open()).opened.schema.getType(client)).toBeDefined()
  })

  it('triggers and depends_on mean it', async () => {
    const { opened } = await open()
    const { extensions } = queryOf(opened)
    expect(extensions).toMatchObject({
      liveQuery: {
        triggers: expect.arrayContaining([`${client}.create`]),
        dependsOn: expect.arrayContaining([client]),
      },
      dependsOn: expect.arrayContaining([client]),
    })
    // The User of another package is another one.
    const isOthers = client === 'ShopUser' && opened.schema.getType('User') !== undefined
    const others = ['"BankUser', ...(isOthers ? ['"User'] : [])]
    expect(others.filter((name) => JSON.stringify(extensions).includes(name))).toEqual([])
  })

  it('dependsOn of the settings means it', async () => {
    const { opened } = await open({ methods: { 'shop.Shop/Listshop': { dependsOn: ['User'] } } })
    expect(queryOf(opened).extensions['dependsOn']).toContain(client)
  })

  it('what a mutation is called by, and what its settings say, is announced under its name', async () => {
    for (const more of [
      {},
      { methods: { 'shop.Shop/CreateUser': { invalidates: { entityType: 'User' } } } },
    ]) {
      const { opened, events } = await open(more)
      await opened.call('shop.Shop.CreateUser', { id: '1' })
      expect(events).toContain(client)
    }
  })
})
