import {
  buildSchema,
  extendSchema,
  getNamedType,
  type GraphQLObjectType,
  GraphQLSchema,
  isCompositeType,
  lexicographicSortSchema,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLField,
} from 'graphql'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createDependencies, createDependencyCache, type Dependence } from '../src/index.ts'
import { drawnSchemas, selectionOn, type Drawn, type DrawnSchema } from './random-schema.ts'

const sorted = (dependence: Dependence): readonly string[] | 'everything' =>
  dependence.everything ? 'everything' : [...dependence.types].sort()

/** Everything holds whatever there is. */
const holds = (dependence: Dependence, type: string): boolean =>
  dependence.everything || dependence.types.has(type)

const includes = (whole: Dependence, part: Dependence): boolean =>
  whole.everything || (!part.everything && [...part.types].every((type) => whole.types.has(type)))

/**
 * The rule as a path: an object type belongs to a type when a value of the one can hold a value of the other without
 * an object with an id between them.
 */
function isPartOf(types: readonly Drawn[], from: Drawn, to: Drawn, path: readonly Drawn[] = []): boolean {
  if (path.includes(from)) return false
  if (from === to && to.kind === 'object') return true
  if (from.hasId) return false
  const next =
    from.kind === 'interface'
      ? types.filter(({ implements: at }) => at !== undefined && types[at] === from)
      : from.targets.flatMap((at) => types[at] ?? [])
  return next.some((one) => isPartOf(types, one, to, [...path, from]))
}

/** Fields of a schema made to carry statements. */
function state(schema: GraphQLSchema, statements: Readonly<Record<string, object>>): GraphQLSchema {
  for (const [coordinate, extensions] of Object.entries(statements)) {
    const [typeName = '', name = ''] = coordinate.split('.')
    const type = schema.getType(typeName) as GraphQLObjectType
    Object.assign((type.getFields()[name] as GraphQLField<unknown, unknown>).extensions, extensions)
  }
  return schema
}

describe('the closure of a type, over random schemas', () => {
  it('has every type that a value can hold without an entity between, and no other', () => {
    fc.assert(
      fc.property(drawnSchemas, ({ types, schema }) => {
        const dependencies = createDependencies(schema)
        for (const from of types) {
          const parts = types.filter((to) => isPartOf(types, from, to))
          const expected = parts.some(({ hasId }) => hasId)
            ? parts.map(({ name }) => name).sort()
            : 'everything'
          expect(sorted(dependencies.ofType(from.name))).toEqual(expected)
        }
      }),
    )
  })

  it('is the same in any order of fields and types, and each time it is asked for', () => {
    fc.assert(
      fc.property(drawnSchemas, ({ types, schema }) => {
        const dependencies = createDependencies(schema)
        const others = createDependencies(lexicographicSortSchema(schema))
        for (const { name } of [...types, ...types].reverse())
          expect(sorted(others.ofType(name))).toEqual(sorted(dependencies.ofType(name)))
      }),
    )
  })

  it('looks at each type once', () => {
    const schema = buildSchema(`type Query { a: A } type A { b: B } type B { id: ID }`)
    const look = vi.spyOn(schema.getType('B') as GraphQLObjectType, 'getFields')
    const { ofOperation } = createDependencies(schema)
    const document = parse('{ a { __typename } }')
    ofOperation(document)
    const calls = look.mock.calls.length
    for (let n = 0; n < 10; n++) ofOperation(document)
    expect(look.mock.calls.length).toBe(calls)
  })
})

describe('what an operation depends on, over random schemas', () => {
  const cases = drawnSchemas.chain(({ types, schema }: DrawnSchema) =>
    selectionOn(schema, 'Query', 4).map((text) => ({ types, schema, text })),
  )

  it('has the closure of every composite type it selects, whatever was selected of it', () => {
    fc.assert(
      fc.property(cases, ({ types, schema, text }) => {
        const { ofOperation } = createDependencies(schema)
        const document = parse(text)
        const found = ofOperation(document)
        const missing: string[] = []
        const info = new TypeInfo(schema)
        const visitor = visitWithTypeInfo(info, {
          Field() {
            const selected = types.find(({ name }) => name === getNamedType(info.getType())?.name)
            if (!selected) return
            const parts = types.filter((to) => isPartOf(types, selected, to))
            missing.push(...parts.filter(({ name }) => !holds(found, name)).map(({ name }) => name))
          },
        })
        visit(document, visitor)
        expect(missing).toEqual([])
      }),
    )
  })

  it('is everything exactly when some root field reaches no entity', () => {
    fc.assert(
      fc.property(cases, ({ types, schema, text }) => {
        const reached = Object.values(schema.getQueryType()?.getFields() ?? {})
          .filter(({ name }) => new RegExp(`^\\{ __typename(.*[ }])?${name}[ {}]`).test(rootsOf(text)))
          .map(({ type }) => types.find(({ name }) => name === getNamedType(type).name))
        const isKnown = reached.every(
          (from) => from && types.some((to) => to.hasId && isPartOf(types, from, to)),
        )
        expect(createDependencies(schema).ofOperation(parse(text)).everything).toBe(!isKnown)
      }),
    )
  })

  it('is the same through fragments, with aliases and named operations', () => {
    fc.assert(
      fc.property(cases, ({ schema, text }) => {
        const { ofOperation } = createDependencies(schema)
        const plain = sorted(ofOperation(parse(text)))
        expect(
          sorted(ofOperation(parse(`{ ...F ... @include(if: false) { ...F } } fragment F on Query ${text}`))),
        ).toEqual(plain)
        expect(sorted(ofOperation(parse(`query Other { leaf } query Q ${text}`), 'Q'))).toEqual(plain)
        expect(sorted(ofOperation(parse(text.replace(/\b((?:get|list)T\d)\b/g, 'x$1: $1'))))).toEqual(plain)
      }),
    )
  })

  it('only grows with what is selected', () => {
    fc.assert(
      fc.property(cases, ({ schema, text }) => {
        const { ofOperation } = createDependencies(schema)
        const more = `{ listT0 { __typename } ${text.slice(1)}`
        expect(includes(ofOperation(parse(more)), ofOperation(parse(text)))).toBe(true)
      }),
    )
  })
})

/** The root selection alone: what is below in braces is cut out. */
function rootsOf(text: string): string {
  let depth = 0
  return [...text]
    .filter((char) => {
      if (char === '}') depth -= 1
      const isShown = depth <= 1 || (char === '{' && depth === 1)
      if (char === '{') depth += 1
      return isShown && !(char === '{' && depth === 2)
    })
    .join('')
    .replace(/\}(?!$)/g, ' ')
}

describe('what a mutation changes, over random schemas', () => {
  it('has what its result is made of, selected or not', () => {
    fc.assert(
      fc.property(drawnSchemas, ({ types, schema }) => {
        const { ofMutation, ofType } = createDependencies(schema)
        for (const { name } of types) {
          const changed = ofMutation(parse(`mutation { get${name} { __typename } }`))
          expect(sorted(changed)).toEqual(sorted(ofType(name)))
        }
      }),
    )
  })

  it('what is stated replaces everything, and never takes away from the result', () => {
    fc.assert(
      fc.property(drawnSchemas, ({ types, schema }) => {
        const { ofMutation } = createDependencies(schema)
        for (const { name } of types) {
          const document = parse(`mutation { list${name} { __typename } }`)
          const before = ofMutation(document)
          state(schema, { [`Mutation.list${name}`]: { changes: ['Elsewhere'] } })
          const after = ofMutation(document)
          expect(after.everything).toBe(false)
          expect(holds(after, 'Elsewhere')).toBe(true)
          expect(before.everything || includes(after, before)).toBe(true)
        }
      }),
    )
  })
})

describe('payloads with an id of their own, which no query gives, over random schemas', () => {
  it('change what they hold, and everything when they hold no entity', () => {
    fc.assert(
      fc.property(drawnSchemas, ({ types, schema }) => {
        const payloads = types.map(({ name }) => `type Payload${name} { id: ID! ok: Boolean value: ${name} }`)
        const fields = types.map(({ name }) => `pay${name}: Payload${name}`)
        const whole = extendSchema(
          schema,
          parse(
            `${payloads.join(' ')} type Removed { id: ID! } extend type Mutation { ${fields.join(' ')} removed: Removed }`,
          ),
        )
        const { ofMutation, ofType, isEntity } = createDependencies(whole)
        expect(sorted(ofMutation(parse('mutation { removed { id } }')))).toBe('everything')
        for (const { name } of types) {
          expect(isEntity(`Payload${name}`)).toBe(false)
          const held = ofType(name)
          const expected = held.everything
            ? held
            : { ...held, types: new Set([...held.types, `Payload${name}`]) }
          expect(sorted(ofMutation(parse(`mutation { pay${name} { id } }`)))).toEqual(sorted(expected))
        }
      }),
    )
  })
})

describe('single rules', () => {
  const sdl = /* GraphQL */ `
    type Query {
      users: UserPage
      user: User
      search: Found
      node: Node
      summary: Summary
      count: Int
      version: String
    }
    type Mutation {
      ban: Done
      reset: Boolean
      rename: User
      save: Payload
      users: UserMutations
    }
    type UserMutations {
      drop: Boolean
      rename: User
    }
    type Payload {
      query: Query
      user: User
    }
    type Done {
      ok: Boolean
    }
    type UserPage {
      users: [User!]!
      totalCount: Int
      facets: [Facet]
    }
    type Facet {
      name: String
      n: Int
    }
    interface Node {
      id: ID!
    }
    type User implements Node {
      id: ID!
      address: Address
      stats: Stats
      org: Org
      orderCount: Int
    }
    type Org implements Node {
      id: ID!
      memberCount: Int
    }
    type Address {
      city: String
      country: Country
    }
    type Country {
      name: String
    }
    type Stats {
      orders: Int
    }
    type Missing {
      reason: String
    }
    union Found = User | Missing
    type Summary {
      total: Int
      average: Float
    }
    type Order {
      id: ID!
    }
  `
  const build = (statements: Readonly<Record<string, object>> = {}) =>
    createDependencies(state(buildSchema(sdl), statements))
  const of = (text: string, statements?: Readonly<Record<string, object>>) =>
    sorted(build(statements).ofOperation(parse(text)))
  const changed = (text: string, statements?: Readonly<Record<string, object>>) =>
    sorted(build(statements).ofMutation(parse(text)))

  it.each<[string, string, readonly string[] | 'everything']>([
    [
      'a count in a wrapper is of what the wrapper holds',
      '{ users { totalCount } }',
      ['Facet', 'User', 'UserPage'],
    ],
    ['a facet of a page is a part of the page', '{ users { facets { n } } }', ['Facet', 'User', 'UserPage']],
    ['a summary is of everything', '{ summary { total } }', 'everything'],
    ['a root leaf is of everything', '{ user { id } count }', 'everything'],
    ['an entity ends the walk', '{ user { id } }', ['User']],
    [
      'what has no id within an entity is a part of it',
      '{ user { address { country { name } } } }',
      ['Address', 'Country', 'User'],
    ],
    ['a selected entity below another counts', '{ user { org { id } } }', ['Org', 'User']],
    ['an interface is all of its types', '{ node { id } }', ['Org', 'User']],
    ['a union is all of its types', '{ search { ... on Missing { reason } } }', ['Missing', 'User']],
    ['introspection is of nothing', '{ __typename }', []],
  ])('%s', (_title, text, expected) => {
    expect(of(text)).toEqual(expected)
  })

  it.each<[string, string, Readonly<Record<string, object>>, readonly string[] | 'everything']>([
    [
      'a field computed from another type',
      '{ user { org { memberCount } } }',
      { 'Org.memberCount': { dependsOn: ['Order'] } },
      ['Order', 'Org', 'User'],
    ],
    [
      'counts only where it is selected',
      '{ user { org { id } } }',
      { 'Org.memberCount': { dependsOn: ['Order'] } },
      ['Org', 'User'],
    ],
    [
      'and on the way through a wrapper',
      '{ users { users { id } } }',
      { 'UserPage.totalCount': { dependsOn: ['Order'] } },
      ['Facet', 'Order', 'User', 'UserPage'],
    ],
    ['a root leaf', '{ count }', { 'Query.count': { dependsOn: ['User'] } }, ['User']],
    ['that depends on nothing', '{ version }', { 'Query.version': { dependsOn: [] } }, []],
    ['a summary', '{ summary { total } }', { 'Query.summary': { dependsOn: ['User'] } }, ['Summary', 'User']],
    [
      'a field of it alone does not speak for the rest',
      '{ summary { total average } }',
      { 'Summary.total': { dependsOn: ['User'] } },
      'everything',
    ],
    [
      'a wrapper stands for what it holds',
      '{ count }',
      { 'Query.count': { dependsOn: ['UserPage'] } },
      ['Facet', 'User', 'UserPage'],
    ],
    ['an interface for its types', '{ count }', { 'Query.count': { dependsOn: ['Node'] } }, ['Org', 'User']],
    ['* is everything', '{ user { orderCount } }', { 'User.orderCount': { dependsOn: ['*'] } }, 'everything'],
    [
      'a field of an object type behind an interface',
      '{ node { id } }',
      { 'Org.id': { dependsOn: ['Order'] } },
      ['Order', 'Org', 'User'],
    ],
    [
      'what is no list of names is no statement',
      '{ count }',
      { 'Query.count': { dependsOn: 'User' } },
      'everything',
    ],
    [
      'a join that reaches no entity is everything',
      '{ user { stats { orders } } }',
      { 'User.stats': { requires: ['id'] } },
      'everything',
    ],
    [
      'unless it is stated',
      '{ user { stats { orders } } }',
      { 'User.stats': { requires: ['id'], dependsOn: ['Order'] } },
      ['Order', 'Stats', 'User'],
    ],
    [
      'a leaf that a join gives is of what it fetched, which nobody knows',
      '{ user { orderCount } }',
      { 'User.orderCount': { requires: ['id'], origin: 'a join' } },
      'everything',
    ],
    [
      'unless that is stated',
      '{ user { orderCount } }',
      { 'User.orderCount': { requires: ['id'], dependsOn: ['Order'] } },
      ['Order', 'User'],
    ],
    [
      'also that it is of nothing else',
      '{ user { orderCount } }',
      { 'User.orderCount': { requires: ['id'], dependsOn: [] } },
      ['User'],
    ],
    [
      'one that is not selected does not count',
      '{ user { id } }',
      { 'User.orderCount': { requires: ['id'] } },
      ['User'],
    ],
    ['one behind an interface counts', '{ node { id } }', { 'Org.id': { requires: ['name'] } }, 'everything'],
  ])('dependsOn: %s', (_title, text, statements, expected) => {
    expect(of(text, statements)).toEqual(expected)
  })

  it('a leaf with a resolver of its own is everything, one that a source gives with its parent is a part of that', () => {
    const schema = buildSchema(sdl)
    const { orderCount } = (schema.getType('User') as GraphQLObjectType).getFields()
    const ofLeaf = () => sorted(createDependencies(schema).ofOperation(parse('{ user { orderCount } }')))
    expect(ofLeaf()).toEqual(['User'])
    orderCount!.resolve = () => 1
    expect(ofLeaf()).toBe('everything')
    orderCount!.extensions = { dependsOn: [] }
    expect(ofLeaf()).toEqual(['User'])
    orderCount!.extensions = { origin: 'a source' }
    expect(ofLeaf()).toEqual(['User'])
  })

  it('an object without id that a resolver of its own fetches is everything', () => {
    const schema = buildSchema(sdl)
    const field = (schema.getType('User') as GraphQLObjectType).getFields()['stats']
    if (field) field.resolve = () => ({ orders: 1 })
    const { ofOperation } = createDependencies(schema)
    expect(sorted(ofOperation(parse('{ user { stats { orders } } }')))).toBe('everything')
    expect(sorted(ofOperation(parse('{ user { address { city } } }')))).toEqual([
      'Address',
      'Country',
      'User',
    ])
  })

  it.each<[string, string, Readonly<Record<string, object>>, readonly string[] | 'everything']>([
    ['a payload without an entity changes everything', 'mutation { ban { ok } }', {}, 'everything'],
    ['a Boolean too', 'mutation { reset }', {}, 'everything'],
    ['the entity returned', 'mutation { rename { id } }', {}, ['User']],
    [
      'what a payload offers to query is not changed',
      'mutation { save { query { node { id } } } }',
      {},
      ['Org', 'Payload', 'User'],
    ],
    ['also when nothing of it is selected', 'mutation { save { __typename } }', {}, ['Payload', 'User']],
    ['one mutation of several that changes everything', 'mutation { rename { id } reset }', {}, 'everything'],
    ['a statement', 'mutation { reset }', { 'Mutation.reset': { changes: ['User'] } }, ['User']],
    ['a statement of nothing', 'mutation { ban { ok } }', { 'Mutation.ban': { changes: [] } }, ['Done']],
    [
      '* is everything',
      'mutation { rename { id } }',
      { 'Mutation.rename': { changes: ['*'] } },
      'everything',
    ],
    ['a namespace is all it can return', 'mutation { users { drop } }', {}, ['User', 'UserMutations']],
    [
      'and what its fields state',
      'mutation { users { drop } }',
      { 'UserMutations.drop': { changes: ['Order'] } },
      ['Order', 'User', 'UserMutations'],
    ],
    ['what it selects', 'mutation { rename { org { id } } }', {}, ['Org', 'User']],
  ])('changes: %s', (_title, text, statements, expected) => {
    expect(changed(text, statements)).toEqual(expected)
  })

  it('takes other fields for ids when told', () => {
    const schema = buildSchema(
      'type Query { a: Page } type Page { items: [Item] n: Int } type Item { key: ID }',
    )
    expect(sorted(createDependencies(schema).ofType('Page'))).toBe('everything')
    expect(sorted(createDependencies(schema, { idFields: ['id', 'key'] }).ofType('Page'))).toEqual([
      'Item',
      'Page',
    ])
  })

  it('a document that cannot be understood is everything', () => {
    const { ofOperation, ofMutation, ofType } = build()
    expect(ofOperation(parse('query A { version } query B { version }')).everything).toBe(true)
    expect(ofMutation(parse('mutation A { rename { id } }'), 'B').everything).toBe(true)
    expect(ofMutation(parse('{ user { id } }')).everything).toBe(true)
    expect(
      ofOperation(parse('{ user { nothing { like } this } ...Absent ... on Absent { id } }')).everything,
    ).toBe(false)
    expect(ofType('Absent').everything).toBe(true)
  })

  it('survives fragments that spread each other', () => {
    const text = '{ user { ...A } } fragment A on User { id ...B } fragment B on User { org { id } ...A }'
    expect(of(text)).toEqual(['Org', 'User'])
  })

  it('is made once for each schema', () => {
    const cache = createDependencyCache()
    const schema = buildSchema(sdl)
    expect(cache(schema)).toBe(cache(schema))
    expect(cache(buildSchema(sdl))).not.toBe(cache(schema))
  })

  it('works on a schema without mutations', () => {
    const schema = new GraphQLSchema({ query: buildSchema(sdl).getQueryType() ?? null })
    expect(isCompositeType(schema.getQueryType())).toBe(true)
    expect(sorted(createDependencies(schema).ofOperation(parse('{ user { id } }')))).toEqual(['User'])
  })
})
