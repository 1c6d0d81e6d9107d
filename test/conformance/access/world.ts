import { AUDIENCE, createRandom, startIssuer, startRestBackend, type Random } from '@vinyasa/test-kit'
import { buildSchema, type GraphQLSchema } from 'graphql'
import type { AccessRule } from '../../../apps/gateway/src/access/access-types.ts'
import { createGateway } from '../../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../../apps/gateway/src/logging/logger.ts'
import { serve } from '../../../apps/gateway/src/server.ts'

export interface User {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly isKnown: boolean
  readonly scopes: readonly string[]
  readonly roles: readonly string[]
}

export interface AccessWorld {
  readonly url: string
  /** The same fields, for whoever works out what the gateway should say. */
  readonly schema: GraphQLSchema
  readonly root: object
  readonly rules: Readonly<Record<string, AccessRule>>
  readonly refuse: 'field' | 'operation'
  /** `shared`: keys hold no token. */
  readonly cache: 'none' | 'by token' | 'shared'
  readonly users: readonly User[]
  close(): Promise<void>
}

/** What resolvers of the gateway's own give. */
const OWN = /* GraphQL */ `
  type Query {
    shop: Shop
  }
  type Shop {
    title: String!
    best: Thing
    things: [Thing!]
    first: Any
  }
  interface Thing {
    label: String
    cost: String!
  }
  type Book implements Thing {
    label: String
    cost: String!
    author: String
  }
  type Disc implements Thing {
    label: String
    cost: String!
    label2: String
  }
  union Any = Book | Disc
`
/** What comes over REST. */
const REST = /* GraphQL */ `
  extend type Query {
    item(id: ID!): Item
    items: [Item!]
    whoami: Who
  }
  type Who {
    header: String
  }
  type Item {
    id: ID!
    name: String
    price: String!
    note: String
    owner: Owner
  }
  type Owner {
    key: ID!
    email: String
    rank: String!
  }
`

const ITEMS = ['1', '2', '3'].map((id) => ({
  id: `Item.id#${id}`,
  name: `Item.name#${id}`,
  price: `Item.price#${id}`,
  note: `Item.note#${id}`,
  owner: { key: `Owner.key#${id}`, email: `Owner.email#${id}`, rank: `Owner.rank#${id}` },
}))

const thing = (type: 'Book' | 'Disc', id: number): object => ({
  __typename: type,
  label: `${type}.label#${id}`,
  cost: `${type}.cost#${id}`,
  author: `Book.author#${id}`,
  label2: `Disc.label2#${id}`,
})
const SHOP = {
  title: 'Shop.title#1',
  best: thing('Book', 1),
  things: [thing('Book', 2), thing('Disc', 3)],
  first: thing('Disc', 4),
}

/** Where rules may stand. */
const COORDINATES = `
  Query.item Query.items Query.shop Query.whoami Who.header Item Owner Shop Book Thing Any
  Item.id Item.name Item.price Item.note Item.owner Owner.key Owner.email Owner.rank
  Shop.title Shop.best Shop.things Shop.first Thing.label Thing.cost
  Book.label Book.cost Book.author Disc.label Disc.label2 Disc.cost
`
  .trim()
  .split(/\s+/)
const SCOPES = ['a', 'b', 'c']
const ROLES = ['x', 'y']

function drawRule(random: Random): AccessRule {
  const lists = (from: readonly string[]): string[][] =>
    Array.from({ length: 1 + random.below(2) }, () => from.filter(() => random.below(2) === 0)).map((list) =>
      list.length > 0 ? list : [from[0] as string],
    )
  const kind = random.below(4)
  if (kind === 0) return { authenticated: true }
  if (kind === 1) return { scopes: lists(SCOPES) }
  if (kind === 2) return { policies: lists(ROLES) }
  return { scopes: lists(SCOPES), policies: lists(ROLES) }
}

/** A gateway in front of REST and resolvers of its own, with random rules and users. */
export async function openWorld(seed: number): Promise<AccessWorld> {
  const random = createRandom(seed, 'world')
  const issuer = await startIssuer()
  const secret = 'a secret that is long enough for a test'
  const rest = await startRestBackend(({ url, headers }) => {
    if (url.pathname === '/items') return { json: ITEMS }
    if (url.pathname === '/whoami') return { json: { header: headers['x-user'] ?? null } }
    const item = ITEMS[Number(url.pathname.split('/')[2]) - 1]
    return item ? { json: item } : { status: 404 }
  })
  const rules = Object.fromEntries(
    COORDINATES.filter(() => random.below(4) === 0).map((coordinate) => [coordinate, drawRule(random)]),
  )
  // Every four worlds in a row have all there is.
  const refuse = seed % 8 === 0 ? 'operation' : 'field'
  const cache = (['shared', 'by token', 'shared', 'none'] as const)[seed % 4] ?? 'none'
  const text = 'string'
  const owner = { type: 'Owner', fields: { key: 'id!', email: text, rank: 'string!' } }
  const fields = { id: 'id!', name: text, price: 'string!', note: text, owner }
  const gateway = await createGateway(
    {
      apq: true,
      typeDefs: OWN,
      resolvers: {
        Query: { shop: () => SHOP },
        Thing: { __resolveType: (value: { __typename: string }) => value.__typename },
        Any: { __resolveType: (value: { __typename: string }) => value.__typename },
      },
      // None of them looks at who asks.
      dependencies: Object.fromEntries(
        ['Query.shop', 'Shop.best', 'Shop.things', 'Shop.first'].map((field) => [field, { variesBy: [] }]),
      ),
      rest: {
        items: {
          baseUrl: rest.url,
          endpoints: [
            {
              name: 'item',
              path: '/items/{id}',
              args: { id: 'ID!' },
              responseSchema: { typeName: 'Item', fields },
            },
            {
              name: 'items',
              path: '/items',
              returnType: '[Item!]',
              responseSchema: { typeName: 'Item', fields },
            },
          ],
        },
        who: {
          baseUrl: rest.url,
          forwardHeaders: ['x-user'],
          endpoints: [
            {
              name: 'whoami',
              path: '/whoami',
              responseSchema: { typeName: 'Who', fields: { header: text } },
            },
          ],
        },
      },
      auth: {
        jwt: {
          issuers: [{ issuer: issuer.url, audience: AUDIENCE, secret }],
          forwardClaims: { 'x-user': 'sub' },
        },
      },
      access: {
        refuse,
        fields: rules,
        policies: Object.fromEntries(ROLES.map((role) => [role, { claim: 'roles', is: [role] }])),
      },
      responseCache: cache === 'none' ? false : cache === 'shared' ? { varyHeaders: [] } : {},
      graphql: { batching: 10 },
      liveQuery: { defaults: { enabled: true, throttleMs: 0 } },
      status: false,
      metrics: false,
    },
    { baseDirectory: '/', logger: await createLogger({ level: 'silent' }) },
  )
  const server = await serve(gateway, { port: 0 })

  function user(name: string): User {
    const scopes = SCOPES.filter(() => random.below(2) === 0)
    const roles = ROLES.filter(() => random.below(2) === 0)
    const token = issuer.token({
      alg: 'HS256',
      secret,
      claims: { sub: name, scope: scopes.join(' '), roles },
    })
    // The gateway must not believe the other header.
    return {
      name,
      scopes,
      roles,
      isKnown: true,
      headers: { authorization: `Bearer ${token}`, 'x-user': 'mallory' },
    }
  }

  return {
    url: `${server.url}/graphql`,
    schema: buildSchema(OWN + REST),
    root: {
      item: ({ id }: { id: string }) => ITEMS[Number(id) - 1],
      items: ITEMS,
      shop: SHOP,
    },
    rules,
    refuse,
    cache,
    users: [
      { name: 'nobody', scopes: [], roles: [], isKnown: false, headers: { 'x-user': 'mallory' } },
      ...['ada', 'ben', 'cy', 'dot'].map(user),
    ],
    async close() {
      await server.close({ graceMs: 100 })
      await rest.stop()
      await issuer[Symbol.asyncDispose]()
    },
  }
}
