import * as fc from 'fast-check'
import { buildSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createDependencies, createMutationEvents, readVerb, type InvalidationEvent } from '../src/index.ts'
import { drawnSchemas } from './random-schema.ts'

const schema = buildSchema(`
  type Query { user: User }
  type User { id: ID name: String org: Org }
  type Org { id: ID name: String }
  type Payload { ok: Boolean user: User }
  type Transfer { from: User to: User org: Org }
  type Many { users: [User] org: Org }
  type Ok { ok: Boolean }
  union Any = User | Org
  type Mutation {
    createUser: User banUser: User deleteUser(id: ID): Boolean resetAll: ID touch: Ok deleteOrg: Ok
    updateUser: Payload transfer: Transfer many: Many users: [User] any: Any removeOrg: User
  }
`)

const events = createMutationEvents()

function eventsOf(name: string, result: unknown, args = {}): readonly InvalidationEvent[] {
  const field = schema.getMutationType()?.getFields()[name]
  return events({ schema, field, verb: readVerb(name), args, result })
}

const anything = { entityType: '*', operation: '*' }
const user = { id: 1, name: 'a' }

describe('what a mutation announces', () => {
  it.each<readonly [string, string, unknown, readonly InvalidationEvent[]]>([
    [
      'an entity, with its id',
      'createUser',
      user,
      [{ entityType: 'User', operation: 'create', entityId: '1' }],
    ],
    [
      'a name without a known verb',
      'banUser',
      user,
      [{ entityType: 'User', operation: 'update', entityId: '1' }],
    ],
    [
      'an entity that nobody filled: an empty id is none',
      'createUser',
      { id: '', name: '' },
      [{ entityType: 'User', operation: 'create' }],
    ],
    ['no result', 'createUser', undefined, [{ entityType: 'User', operation: 'create' }]],
    ['null', 'createUser', null, [{ entityType: 'User', operation: 'create' }]],
    ['a scalar', 'resetAll', '1', [anything]],
    ['an object without entities', 'touch', { ok: true }, [anything]],
    [
      'the type its name hints at, beside everything',
      'deleteOrg',
      {},
      [anything, { entityType: 'Org', operation: 'delete' }],
    ],
    [
      'the one entity of a payload',
      'updateUser',
      { user },
      [
        { entityType: 'Payload', operation: '*' },
        { entityType: 'User', operation: 'update', entityId: '1' },
      ],
    ],
    [
      'two entities of a type: no id says which',
      'transfer',
      { from: user, to: user, org: { id: 2 } },
      [
        { entityType: 'Transfer', operation: '*' },
        { entityType: 'User', operation: '*' },
        { entityType: 'Org', operation: '*', entityId: '2' },
      ],
    ],
    ['lists', 'users', [user], [{ entityType: 'User', operation: 'update' }]],
    [
      'a union: all its types',
      'any',
      user,
      [
        { entityType: 'User', operation: '*' },
        { entityType: 'Org', operation: '*' },
      ],
    ],
    [
      'a name that hints at another type',
      'removeOrg',
      user,
      [
        { entityType: 'User', operation: 'delete', entityId: '1' },
        { entityType: 'Org', operation: 'delete' },
      ],
    ],
  ])('%s', (_, name, result, expected) => {
    const found = eventsOf(name, result)
    for (const event of expected) expect(found).toContainEqual(event)
    expect(found.filter(({ entityType }) => entityType !== 'Any')).toHaveLength(expected.length)
  })

  it('reads the id field that the schema declares in extensions.idFields', () => {
    const declared = buildSchema(`
      type Query { product: Product }
      type Product { id: ID sku: ID }
      type Mutation { updateProduct: Product }
    `)
    declared.extensions = { idFields: ['sku', 'id'] }
    const field = declared.getMutationType()?.getFields()['updateProduct']
    const result = { id: '1', sku: 'a-1' }
    expect(events({ schema: declared, field, verb: readVerb('updateProduct'), args: {}, result })).toEqual([
      { entityType: 'Product', operation: 'update', entityId: 'a-1' },
    ])
    expect(createDependencies(declared).idFieldOf('Product')).toBe('sku')
    expect(createDependencies(declared, { idFields: ['id'] }).idFieldOf('Product')).toBe('id')
  })

  it('an id in the arguments stands beside everything, and never alone', () => {
    expect(eventsOf('deleteUser', true, { id: '7' })).toEqual([
      anything,
      { entityType: 'User', operation: 'delete', entityId: '7' },
    ])
  })

  it('stated types have no id: the statement says any of them', () => {
    const stated = buildSchema('type Query { a: User } type User { id: ID } type Mutation { pay: User }')
    const field = stated.getMutationType()?.getFields()['pay']
    if (field) field.extensions = { changes: ['User', 'Account'] }
    const found = events({ schema: stated, field, verb: readVerb('pay'), args: {}, result: user })
    expect(found.map(({ entityType, entityId }) => [entityType, entityId])).toEqual([
      ['User', undefined],
      ['Account', undefined],
    ])
  })

  it('never less than the closure of what it returns, whatever the schema and the name', () => {
    fc.assert(
      fc.property(
        drawnSchemas,
        fc.constantFrom('createA', 'x', 'delete', 'setB', ''),
        ({ schema: built }, name) => {
          const dependencies = createDependencies(built)
          for (const field of Object.values(built.getQueryType()?.getFields() ?? {})) {
            const changed = dependencies.ofMutationField(field)
            const found = events({
              schema: built,
              field,
              verb: readVerb(name),
              args: { id: 1 },
              result: { id: 1 },
            })
            const types = new Set(found.map(({ entityType }) => entityType))
            const needed = changed.everything ? ['*'] : [...changed.types]
            expect(needed.filter((type) => !types.has(type))).toEqual([])
          }
        },
      ),
    )
  })
})

describe('readVerb', () => {
  it.each([
    ['CreateUser', 'create', 'User'],
    ['delete_user', 'delete', 'User'],
    ['setup', undefined, undefined],
    ['banUser', undefined, 'User'],
    ['petsDelete', undefined, 'Delete'],
    ['remove', 'delete', undefined],
    ['', undefined, undefined],
  ])('%s', (name, operation, noun) => expect(readVerb(name)).toEqual({ operation, noun }))
})
