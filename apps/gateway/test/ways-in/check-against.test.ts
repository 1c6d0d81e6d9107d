import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRestBackend } from '@vinyasa/test-kit'
import { buildSchema, introspectionFromSchema, lexicographicSortSchema, printSchema } from 'graphql'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { findCounterparts } from '../../src/commands/against/counterparts.ts'
import { compareSchemas } from '../../src/commands/against/compare-schemas.ts'
import { coordinatesOf } from '../../src/commands/against/coordinates-of.ts'
import { describeUntried, findMends } from '../../src/commands/against/mend.ts'
import { withSettings } from '../../src/commands/against/settings.ts'
import type { GatewayConfig } from '../../src/config/types.ts'
import { createGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/logging/logger.ts'
import { emptyFolder, type Folder } from '../support/folder.ts'

async function schemaOf(config: GatewayConfig) {
  const gateway = await createGateway(config, {
    baseDirectory: '/',
    logger: await createLogger({ level: 'silent' }),
  })
  await gateway.close()
  return gateway.schema
}

const shop = (baseUrl = 'http://127.0.0.1:1'): NonNullable<GatewayConfig['rest']>[string] => ({
  baseUrl,
  types: {
    Product: {
      kind: 'object',
      fields: {
        id: { type: 'ID!' },
        title: { type: 'String' },
        unitPrice: { type: 'Float' },
        status: { type: 'Status' },
        maker: { type: 'Maker' },
      },
    },
    Maker: { kind: 'object', fields: { id: { type: 'ID!' }, makerName: { type: 'String' } } },
    Status: { kind: 'enum', values: { ON_SALE: { value: 'on' }, SOLD_OUT: { value: 'out' } } },
    Filter: { kind: 'input', fields: { minPrice: { type: 'Float' } } },
  },
  endpoints: [
    { name: 'getProduct', path: '/products/{id}', args: { id: 'ID!' }, returnType: 'Product' },
    {
      name: 'listProducts',
      path: '/products',
      queryParams: { size: '{pageSize}' },
      args: { pageSize: 'Int' },
      returnType: '[Product!]',
    },
    {
      name: 'search',
      method: 'POST',
      asQuery: true,
      path: '/search',
      args: { filter: 'Filter' },
      body: { arg: 'filter' },
      returnType: '[Product]',
    },
  ],
})

/** A folder with the config and the schema that clients know. */
async function folderWith(config: object, old: string): Promise<Folder> {
  const folder = await emptyFolder()
  await writeFile(join(folder.directory, 'gateway.config.yaml'), stringify(config))
  await writeFile(join(folder.directory, 'old.graphql'), old)
  return folder
}

async function reachable(): Promise<NonNullable<GatewayConfig['rest']>[string]> {
  const backend = await startRestBackend(() => ({ json: {} }))
  onTestFinished(() => backend.stop())
  return shop(backend.url)
}

const told = (folder: Folder): string[] =>
  folder.out.filter((line) => /^(against|breaking|dangerous|suggested|remaining) /.test(line))

const OLD = /* GraphQL */ `
  type Query {
    product(id: ID!): Product
    listProducts(size: Int): [Product!]!
    search(filter: Filter): [Product]
    banner: String
  }
  type Product {
    id: ID!
    name: String
    unitPrice: Int
    status: State
    maker: Maker
  }
  type Maker {
    id: ID!
    makerName: String!
  }
  enum State {
    on_sale
    soldOut
    GONE
  }
  input Filter {
    minPrice: Float
    maxPrice: Float
  }
`

describe('check --against', () => {
  it('lists what clients of the old schema would notice, with the setting that mends it, and ends with 1', async () => {
    const folder = await folderWith({ rest: { shop: await reachable() } }, OLD)
    expect(await folder.command('check', '--against', 'old.graphql')).toBe(1)
    expect(told(folder)).toMatchInlineSnapshot(`
      [
        "against  10 breaking, 1 dangerous",
        "breaking Type 'State' was removed; set rest.shop.rename: { Status: State }",
        "breaking Input field 'maxPrice' was removed from input object type 'Filter'",
        "breaking Field 'Maker.makerName' changed type from 'String!' to 'String'; set rest.shop.types.Maker.fields.makerName.type: String!",
        "breaking Field 'name' was removed from object type 'Product'",
        "breaking Field 'Product.status' changed type from 'State' to 'Status'; set rest.shop.rename: { Status: State }",
        "breaking Field 'Product.unitPrice' changed type from 'Int' to 'Float'; set rest.shop.types.Product.fields.unitPrice.type: Int",
        "breaking Field 'banner' was removed from object type 'Query'",
        "breaking Field 'product' was removed from object type 'Query'; set rest.shop.rename: { Query.getProduct: product }",
        "breaking Field 'Query.listProducts' changed type from '[Product!]!' to '[Product!]'; set rest.shop.endpoints[1].returnType: '[Product!]!'",
        "breaking Argument 'size: Int' was removed from field 'Query.listProducts'; set rest.shop.rename: { 'Query.listProducts(pageSize:)': size }",
        "dangerous Argument 'pageSize: Int' added to field 'Query.listProducts'",
        "suggested rest.shop.rename: { Status.ON_SALE: on_sale }",
        "suggested rest.shop.rename: { Status.SOLD_OUT: soldOut }",
        "remaining 4 breaking, 0 dangerous with these settings",
        "breaking Enum value 'GONE' was removed from enum 'State'",
      ]
    `)
    expect(folder.err).toMatchInlineSnapshot(`
      [
        "vinyasa: --against old.graphql: 10 breaking changes; apply the listed settings, if any, or tell the owners of the clients about the changes",
      ]
    `)
  }, 60_000)

  it('ends with 0 where nothing breaks: what is only new, and what is dangerous', async () => {
    const old = OLD.replace('product(id: ID!): Product', 'getProduct(id: ID!): Product')
      .replace('(size: Int): [Product!]!', '(pageSize: Int): [Product!]')
      .replace('banner: String', '')
      .replace('name: String', 'title: String')
      .replace('unitPrice: Int', 'unitPrice: Float')
      .replace('makerName: String!', 'makerName: String')
      .replaceAll('State', 'Status')
      .replace(/on_sale\s+soldOut\s+GONE/, 'ON_SALE')
      .replace('maxPrice: Float', '')
    const folder = await folderWith({ rest: { shop: await reachable() } }, old)
    expect([await folder.command('check', '--against', 'old.graphql'), folder.err]).toEqual([0, []])
    expect(told(folder)).toMatchInlineSnapshot(`
      [
        "against  0 breaking, 1 dangerous",
        "dangerous Enum value 'SOLD_OUT' was added to enum 'Status'",
      ]
    `)
  }, 60_000)

  it.each(['what was asked', 'the answer'])(
    'reads introspection in JSON, %s',
    async (kept) => {
      const folder = await folderWith({ rest: { shop: await reachable() } }, OLD)
      await folder.command('check', '--against', 'old.graphql')
      const fromSdl = told(folder).splice(0)
      folder.out.length = 0
      const asked = introspectionFromSchema(buildSchema(OLD))
      const text = JSON.stringify(kept === 'the answer' ? { data: asked } : asked, null, 2)
      await writeFile(join(folder.directory, 'schema.json'), text)
      expect(await folder.command('check', '--against', 'schema.json')).toBe(1)
      expect(told(folder)).toEqual(fromSdl)
    },
    60_000,
  )

  it.each([
    [
      'an address',
      'https://shop.example/schema.graphql',
      /URLs are not supported; save the schema to a file/,
    ],
    [
      'JSON that is none',
      'other.json',
      /expected SDL, such as .*, or the JSON result of an introspection query/,
    ],
    ['a file that is not there', 'gone.graphql', /ENOENT.*pass a readable file that contains the old schema/],
    [
      'what is no SDL',
      'gateway.config.yaml',
      /Syntax Error.*expected SDL, such as the output of vinyasa print-schema/,
    ],
  ])('refuses %s', async (_, file, message) => {
    const folder = await folderWith({ rest: { shop: shop() } }, OLD)
    await writeFile(join(folder.directory, 'other.json'), '{ "name": "shop" }')
    expect(await folder.command('check', '--against', file)).toBe(1)
    expect(folder.err.join('\n')).toMatch(message)
  })

  it('does not name a setting that another part of the config contradicts', async () => {
    const config = {
      rest: { shop: await reachable() },
      access: { fields: { 'Product.title': { authenticated: true } } },
    }
    const folder = await folderWith(config, OLD)
    expect(await folder.command('check', '--against', 'old.graphql')).toBe(1)
    expect(told(folder).filter((line) => line.includes('Product.title'))).toEqual([])
    expect(told(folder)).toContain("breaking Field 'name' was removed from object type 'Product'")
  }, 60_000)

  it('reads a schema as its clients know it: roots of other names, hidden fields, scalars that servers bring', async () => {
    const old = /* GraphQL */ `
      schema @server(port: 8000) {
        query: Root
      }
      directive @http(path: String) on FIELD_DEFINITION
      extend type Maker @key(fields: "id") {
        id: ID!
      }
      extend type Maker {
        makerName: String
      }
      type Root {
        product(id: ID!): Product @http(path: "/products/{{args.id}}")
      }
      type Product {
        id: ID!
        heading: String @modify(name: "title")
        secret: Email @omit
        hidden: String @inaccessible
        unitPrice: Float
      }
    `
    const folder = await folderWith({ rest: { shop: await reachable() } }, old)
    await folder.command('check', '--against', 'old.graphql')
    expect(told(folder)).toEqual([
      'against  1 breaking, 0 dangerous',
      "breaking Field 'product' was removed from object type 'Query'; set rest.shop.rename: { Query.getProduct: product }",
      'remaining 0 breaking, 0 dangerous with these settings',
    ])
  }, 60_000)
})

/** Names that a config may give to what the shop has, at random; no two the same. */
const renames = fc
  .subarray(
    [
      ['Product', 'CatalogProduct'],
      ['Maker', 'shop_Maker'],
      ['Status', 'STATUS'],
      ['Filter', 'ProductFilter'],
      ['Query.getProduct', 'product'],
      ['Query.listProducts', 'shop_v1_list_products'],
      ['Query.listProducts(pageSize:)', 'page_size'],
      ['Query.search(filter:)', 'product_filter'],
      ['Product.unitPrice', 'unit_price'],
      ['Product.title', 'product_title'],
      ['Maker.makerName', 'name'],
      ['Status.ON_SALE', 'on_sale'],
      ['Status.SOLD_OUT', 'soldOut'],
      ['Filter.minPrice', 'min_price'],
    ],
    { minLength: 1 },
  )
  .map((entries) => Object.fromEntries(entries) as Record<string, string>)

describe('the settings that it names', () => {
  it('give exactly the old names, whatever was renamed', async () => {
    await fc.assert(
      fc.asyncProperty(renames, async (rename) => {
        const old = await schemaOf({ rest: { shop: { ...shop(), rename } } })
        const config = { rest: { shop: shop() } }
        const { mends, left } = await findMends(old, await schemaOf(config), config, schemaOf)
        expect(left).toEqual([])
        const mended = await schemaOf(
          withSettings(
            config,
            mends.map(({ setting }) => setting),
          ),
        )
        const print = (schema: typeof old): string => printSchema(lexicographicSortSchema(schema))
        expect(print(mended)).toBe(print(old))
      }),
      { numRuns: 25 },
    )
  }, 120_000)

  it('are those of the source that has the name, among several', async () => {
    const rest = { shop: shop(), second: { ...shop(), prefix: 'second' } }
    const old = await schemaOf({
      rest: { ...rest, second: { ...rest.second, rename: { Product: 'Thing' } } },
    })
    const { mends, left } = await findMends(old, await schemaOf({ rest }), { rest }, schemaOf)
    expect([left, mends.map(({ setting }) => setting.path)]).toEqual([
      [],
      [['rest', 'second', 'rename', 'Product']],
    ])
  })

  it('are one for many names where a source has one', async () => {
    const protoText = {
      'a.proto': `syntax = "proto3"; package a; service S { rpc GetA(Q) returns (A); }
        message Q { string first_id = 1; } message A { string first_name = 1; string last_name = 2; int64 born_at = 3; }`,
    }
    const grpc = { a: { endpoint: '127.0.0.1:1', protoText, expose: 'all' as const } }
    const old = await schemaOf({ grpc: { a: { ...grpc.a, fieldNames: 'proto', int64: 'number-when-safe' } } })
    const { mends, left } = await findMends(old, await schemaOf({ grpc }), { grpc }, schemaOf)
    expect([left, mends.map(({ setting }) => setting.path.join('.'))]).toEqual([
      [],
      ['grpc.a.fieldNames', 'grpc.a.int64'],
    ])
  })

  it('are two where 64-bit integers were Int, of gRPC and REST', async () => {
    const protoText = {
      'a.proto': `syntax = "proto3"; package a; service S { rpc GetA(Q) returns (A); }
        message Q { int64 id = 1; } message A { int64 id = 1; uint32 size = 2; string text = 3; bytes raw = 4; }`,
    }
    const grpc = { a: { endpoint: '127.0.0.1:1', protoText, expose: 'all' as const } }
    const fields = { v: 'long' } as const
    const endpoints = [{ name: 'thing', path: '/', responseSchema: { typeName: 'T', fields } }]
    const config: GatewayConfig = { grpc, rest: { b: { baseUrl: 'http://127.0.0.1:1', endpoints } } }
    const old = buildSchema(`
      type Query { getA(id: Int): A, thing: T }
      type A { id: Int, size: Int, text: String, raw: String }
      type T { v: Int }
    `)
    const { mends, left } = await findMends(old, await schemaOf(config), config, schemaOf)
    expect([
      left,
      mends.map(({ setting: { path, value } }) => `${path.join('.')}: ${String(value)}`),
    ]).toEqual([
      [],
      [
        'grpc.a.int64: number-when-safe',
        'grpc.a.rename.Long: Int',
        'grpc.a.rename.UInt32: Int',
        'grpc.a.rename.Bytes: String',
        'rest.b.rename.Long: Int',
      ],
    ])
  })

  it('are looked for no longer than there is time, and what was not tried is named', async () => {
    const config = { rest: { shop: shop() } }
    const old = await schemaOf({ rest: { shop: { ...shop(), rename: { Product: 'Thing', Maker: 'Firm' } } } })
    const made: number[] = []
    const slow = async (changed: GatewayConfig) => {
      made.push(1)
      return await schemaOf(changed)
    }
    const mended = await findMends(old, await schemaOf(config), config, slow, 0)
    expect([made, mended.mends]).toEqual([[], []])
    expect(mended.left.length).toBeGreaterThan(0)
    expect(describeUntried(mended)).toEqual([
      'not tried rest.shop.rename: { Long: Int } and 1 more: the search stopped after 60 attempts or 30 s; apply the listed settings, if any, then run vinyasa check --against <old schema>',
    ])
    expect(describeUntried(await findMends(old, await schemaOf(config), config, slow))).toEqual([])
  })

  it('are none where two could be meant', () => {
    const pairs = (before: string, after: string): string[] =>
      findCounterparts(coordinatesOf(buildSchema(before)), coordinatesOf(buildSchema(after))).map(
        ({ old, now }) => `${old.coordinate} ${now.coordinate}`,
      )
    expect(pairs('type Query { name: Int }', 'type Query { first_name: Int, last_name: Int }')).toEqual([])
    expect(pairs('type Query { a_name: Int, b_name: Int }', 'type Query { name: Int }')).toEqual([])
    expect(pairs('type Query { a: A } type A { x: Int }', 'type Query { a: B } type B { y: Int }')).toEqual(
      [],
    )
    expect(pairs('type Query { name: Int, b: Int }', 'type Query { first_name: Int, b: Int }')).toEqual([
      'Query.name Query.first_name',
    ])
  })
})

it('knows each kind of change', async () => {
  const compare = async (before: string, after: string): Promise<string[]> => {
    const [old, next] = [before, after].map((sdl) => buildSchema(`${sdl} type Query { a: Int }`))
    const found = await compareSchemas(old as never, next as never)
    return found.map(({ level, message }) => `${level} ${message}`)
  }
  const changes: readonly (readonly [string, string])[] = [
    ['type A { b: Int }', ''],
    ['type A { b: Int c: Int }', 'type A { b: Int }'],
    ['type A { b: Int }', 'type A { b: String }'],
    ['type A { b: Int! }', 'type A { b: Int }'],
    ['type A { b: Int }', 'type A { b: Int! }'],
    ['type A { b(c: Int!): Int }', 'type A { b(c: Int): Int }'],
    ['type A { b(c: Int): Int }', 'type A { b(c: Int!): Int }'],
    ['type A { b: Int }', 'type A { b(c: Int!): Int }'],
    ['type A { b: Int }', 'type A { b(c: Int! = 1): Int }'],
    ['input A { b: Int }', 'input A { b: Int c: Int! }'],
    ['input A { b: Int }', 'input A { b: Int c: Int }'],
    ['enum A { B C }', 'enum A { B }'],
    ['enum A { B }', 'enum A { B C }'],
    ['type B { a: Int } union A = B | Query', 'type B { a: Int } union A = B'],
    ['type A { b: Int }', 'type A { b: Int @deprecated }'],
    ['directive @a on FIELD', ''],
  ]
  const table = await Promise.all(
    changes.map(async ([before, after]) => [before, after, ...(await compare(before, after))]),
  )
  expect(table.map((row) => row.join(' | '))).toMatchInlineSnapshot(`
    [
      "type A { b: Int } |  | breaking Type 'A' was removed",
      "type A { b: Int c: Int } | type A { b: Int } | breaking Field 'c' was removed from object type 'A'",
      "type A { b: Int } | type A { b: String } | breaking Field 'A.b' changed type from 'Int' to 'String'",
      "type A { b: Int! } | type A { b: Int } | breaking Field 'A.b' changed type from 'Int!' to 'Int'",
      "type A { b: Int } | type A { b: Int! }",
      "type A { b(c: Int!): Int } | type A { b(c: Int): Int }",
      "type A { b(c: Int): Int } | type A { b(c: Int!): Int } | breaking Type for argument 'c' on field 'A.b' changed from 'Int' to 'Int!'",
      "type A { b: Int } | type A { b(c: Int!): Int } | breaking Argument 'c: Int!' added to field 'A.b'",
      "type A { b: Int } | type A { b(c: Int! = 1): Int } | dangerous Argument 'c: Int!' (with default value) added to field 'A.b'",
      "input A { b: Int } | input A { b: Int c: Int! } | breaking Input field 'c' of type 'Int!' was added to input object type 'A'",
      "input A { b: Int } | input A { b: Int c: Int }",
      "enum A { B C } | enum A { B } | breaking Enum value 'C' was removed from enum 'A'",
      "enum A { B } | enum A { B C } | dangerous Enum value 'C' was added to enum 'A'",
      "type B { a: Int } union A = B | Query | type B { a: Int } union A = B | breaking Member 'Query' was removed from Union type 'A'",
      "type A { b: Int } | type A { b: Int @deprecated }",
      "directive @a on FIELD |  | breaking Directive 'a' was removed",
    ]
  `)
})
