import { buildSchema, getOperationAST, parse } from 'graphql'
import { afterEach, describe, expect, it } from 'vitest'
import { createDependencies } from '@vinyasa/invalidation'
import { createEntityFinder } from '../src/triggers/identifiers.ts'
import { startLive, subscribe, type LiveSetup } from './support.ts'

const schema = buildSchema(`
  type User { id: ID! name: String friends: [User!]! post: Post }
  type Post { id: ID! title: String }
  union Any = User | Post
  type Query { user: User users: [User] any: [Any] }
`)

function finder(query: string, idFields?: readonly string[]): ReturnType<typeof createEntityFinder> {
  const document = parse(query)
  const dependencies = createDependencies(schema, { idFields })
  return createEntityFinder(schema, document, getOperationAST(document)!, dependencies)
}

describe('createEntityFinder', () => {
  it.each<[string, unknown, string[]]>([
    ['{ user { id name } }', { user: { id: '1' } }, ['User:1']],
    ['{ u: user { key: id } }', { u: { key: 7 } }, ['User:7']],
    [
      '{ users { id friends { id post { id } } } }',
      { users: [{ id: 1, friends: [{ id: 2, post: { id: 3 } }] }, null] },
      ['User:1', 'User:2', 'Post:3'],
    ],
    [
      '{ ...F } fragment F on Query { user { ... on User { ...G } } } fragment G on User { id }',
      { user: { id: '1' } },
      ['User:1'],
    ],
    ['{ user { id } }', null, []],
  ])('%s', (query, data, expected) => {
    expect([...finder(query).entitiesIn(data)]).toEqual(expected)
  })

  it.each<[string, boolean]>([
    ['{ user { id } }', true],
    ['{ user { name } }', false],
    ['{ user { id friends { name } } }', false],
    ['query ($s: Boolean!) { user { id @include(if: $s) } }', false],
    ['query ($s: Boolean!) { user { ... @include(if: $s) { id } } }', false],
    ['query ($s: Boolean!) { user { ...F @skip(if: $s) } } fragment F on User { id }', false],
    ['query ($s: Boolean!) { user { ...F @skip(if: $s) ...F } } fragment F on User { id }', true],
    ['{ any { ... on User { id } } }', false],
    ['{ users { id post { id } } }', true],
  ])('%s identifies User: %s', (query, expected) => {
    expect(finder(query).identifies('User')).toBe(expected)
  })

  it('identifies types by the first of idFields that they have', () => {
    const query = '{ user { id key: name post { id title } } }'
    const found = finder(query, ['name', 'id'])
    expect([found.identifies('User'), found.identifies('Post')]).toEqual([true, true])
    const data = { user: { id: '1', key: 'Ada', post: { id: '3' } } }
    expect([...found.entitiesIn(data)]).toEqual(['User:Ada', 'Post:3'])
    expect(finder('{ user { id } }', ['name', 'id']).identifies('User')).toBe(false)
    expect(finder('{ users { id post { title } } }', ['title']).identifies('User')).toBe(false)
    expect(finder('{ users { id post { title } } }', ['title']).identifies('Post')).toBe(true)
  })

  const chain = (link: (next: string) => string): string =>
    Array.from({ length: 30 }, (_, at) => `fragment F${at} on User { id ${link(`...F${at + 1}`)} }`).join(' ')

  it('looks once at fragments that spread each other many times', () => {
    const text = `{ user { ...F0 } } ${chain((next) => `${next} ${next}`)} fragment F30 on User { name }`
    expect(finder(text).identifies('User')).toBe(true)
  })

  it('identifies nothing where fragments make more places than can be looked at', () => {
    const friends = (next: string): string => `a: friends { ${next} } b: friends { ${next} }`
    const text = `{ user { ...F0 } } ${chain(friends)} fragment F30 on User { id }`
    expect(finder(text).identifies('User')).toBe(false)
  })
})

describe('matchEntityId', () => {
  let setup: LiveSetup
  afterEach(() => setup.close())

  async function reads(
    query: string,
    event: { operation: string; entityId?: string },
    plugin?: { readonly idFields: readonly string[] },
  ): Promise<number> {
    setup = await startLive({ plugin: { matchEntityId: true, ...plugin } })
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', query))
    await socket.next()
    setup.plugin.store.invalidate({ entityType: 'User', ...event })
    await setup.clock.advance(1000)
    return setup.world.reads - 1
  }

  it.each([
    ['held', { operation: 'update', entityId: '1' }, 1],
    ['not held', { operation: 'update', entityId: '2' }, 0],
    ['deleted, not held', { operation: 'delete', entityId: '2' }, 0],
    ['created', { operation: 'create', entityId: '3' }, 1],
    ['any', { operation: 'update' }, 1],
  ])('an event of an entity that is %s', async (_, event, expected) => {
    expect(await reads('query @live { user(id: 1) { id name } }', event)).toBe(expected)
  })

  it('an event of an entity where the query does not ask for the id', async () => {
    expect(await reads('query @live { user(id: 1) { name } }', { operation: 'update', entityId: '2' })).toBe(
      1,
    )
  })

  it.each([
    ['Ada', 1],
    ['Bob', 0],
    ['1', 0],
  ])('an event of the entity %s, for types that idFields identifies by name', async (entityId, expected) => {
    const event = { operation: 'update', entityId }
    expect(await reads('query @live { user(id: 1) { id name } }', event, { idFields: ['name', 'id'] })).toBe(
      expected,
    )
  })

  it('an event of any entity if the query selects only another id field than the type has first', async () => {
    const event = { operation: 'update', entityId: 'Bob' }
    expect(await reads('query @live { user(id: 1) { id } }', event, { idFields: ['name', 'id'] })).toBe(1)
  })

  it('an event during the first execution is matched against what it finds', async () => {
    setup = await startLive({ plugin: { matchEntityId: true } })
    const socket = await setup.ready()
    let open = (): void => {}
    setup.world.gate = new Promise<void>((resolve) => (open = resolve))
    socket.sendJson(subscribe('a', 'query @live { user(id: 1) { id name } }'))
    await expect.poll(() => setup.world.reads).toBe(1)
    expect(setup.plugin.store.invalidate({ entityType: 'User', operation: 'update', entityId: '2' })).toBe(0)
    setup.plugin.store.invalidate({ entityType: 'User', operation: 'update', entityId: '1' })
    open()
    await socket.next()
    await setup.clock.advance(1000)
    expect(setup.world.reads).toBe(2)
    expect((await socket.nextJson()).payload.revision).toBe(2)
  })
})
