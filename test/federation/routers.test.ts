import { createRandom, type Random } from '@vinyasa/test-kit'
import { buildSchema, GraphQLSchema, Kind, parse, print, type GraphQLObjectType } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drawOperation } from '../conformance/names/draw-operation.ts'
import { compose, post, sdlOf, startApollo, startHive, type Router } from './routers.ts'
import { startWorld, type World } from './world.ts'

let world: World
let supergraphSdl: string
const routers = new Map<string, Router>()
beforeAll(async () => {
  world = await startWorld()
  supergraphSdl = await compose([world.shop, world.reviews])
  routers.set('Apollo', await startApollo(supergraphSdl))
  routers.set('Hive', await startHive(supergraphSdl))
})
afterAll(async () => {
  for (const router of routers.values()) await router.stop()
  await world?.stop()
})

it('two gateways are composed', () => {
  expect(() => parse(supergraphSdl)).not.toThrow()
  expect(supergraphSdl).toMatch(
    /type Account\s+@join__type\(graph: REVIEWS, key: "id"\)\s+@join__type\(graph: SHOP, key: "id"\)/,
  )
  expect(supergraphSdl).toMatch(
    /type Order\s+@join__type\(graph: REVIEWS, key: "number"\)\s+@join__type\(graph: SHOP, key: "number"\)/,
  )
})

/** A random selection on a type, with its variables and fragments. */
function drawSelection(schema: GraphQLSchema, typeName: string, random: Random) {
  const query = schema.getType(typeName) as GraphQLObjectType
  const drawn = drawOperation(new GraphQLSchema({ ...schema.toConfig(), query }), random, false)
  const [operation, ...fragments] = parse(drawn.query).definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('The first definition is the operation.')
  return {
    variables: drawn.variables,
    within: (text: (selection: string) => string) =>
      [
        `query ${/\(.*\)/.exec(drawn.query.slice(0, drawn.query.indexOf('{')))?.[0] ?? ''}`,
        text(print(operation.selectionSet)),
        ...fragments.map(print),
      ].join('\n'),
  }
}

describe.each(['Apollo', 'Hive'])('%s', (name) => {
  const ask: Router['ask'] = async (query, variables) => (routers.get(name) as Router).ask(query, variables)

  it('fields of both answer one query, and references to a type are one call of its backend', async () => {
    const before = world.grpc.calls.length
    const { data, errors } = await ask(
      '{ latest { text author { name reviews { id } } about { total stars isLarge customer { name } } } }',
    )
    expect(errors).toBeUndefined()
    expect(data).toEqual({
      latest: ['1', '2', '3'].map((id) => ({
        text: `text ${id}`,
        author: { name: `user ${id}`, reviews: [{ id: `r${id}` }] },
        about: { total: 3, stars: 2, isLarge: true, customer: { name: 'user 7' } },
      })),
    })
    const calls = world.grpc.calls.slice(before).map(({ request }) => JSON.stringify(request))
    // All authors, and all customers.
    expect(calls.toSorted()).toEqual(['{"ids":["1","2","3"]}', '{"ids":["7"]}'])
  })

  it('500 operations by chance give through the router what they give straight', async () => {
    const schema = buildSchema(await sdlOf(world.shop), { assumeValidSDL: true })
    const random = createRandom(1, 'federation')
    let answered = 0
    for (let round = 0; round < 500; round++) {
      const { query, variables } = drawOperation(schema, random, false)
      const straight = (await post(world.shop.url, query, variables)) as { data?: object; errors?: unknown }
      const routed = await ask(query, variables)
      // What a backend refuses is an error either way.
      expect(routed.errors === undefined).toBe(straight.errors === undefined)
      if (straight.errors !== undefined) continue
      expect(routed.data).toEqual(straight.data)
      if (Object.keys(straight.data ?? {}).length > 1) answered++
    }
    expect(answered).toBeGreaterThan(200)
  })

  it('200 selections on entities of another subgraph give what they give straight', async () => {
    const schema = buildSchema(await sdlOf(world.shop), { assumeValidSDL: true })
    const random = createRandom(2, 'federation')
    let answered = 0
    for (let round = 0; round < 200; round++) {
      const isOrder = round % 2 === 0
      const { variables, within } = drawSelection(schema, isOrder ? 'Order' : 'Account', random)
      const routed = await ask(
        within((selection) => `{ latest { ${isOrder ? 'about' : 'author'} ${selection} } }`),
        variables,
      )
      const straight = (await post(
        world.shop.url,
        within((selection) =>
          isOrder
            ? `{ o1: order(number: "o1") ${selection} o2: order(number: "o2") ${selection} o3: order(number: "o3") ${selection} }`
            : `{ accounts(ids: ["1", "2", "3"]) ${selection} }`,
        ),
        variables,
      )) as { data: { accounts?: unknown[] }; errors?: unknown }
      // What a backend refuses is an error either way.
      expect(routed.errors === undefined).toBe(straight.errors === undefined)
      if (straight.errors !== undefined) continue
      const { latest } = routed.data as { latest: { about?: unknown; author?: unknown }[] }
      const expected = isOrder ? Object.values(straight.data) : straight.data.accounts
      expect(latest.map(({ about, author }) => about ?? author)).toEqual(expected)
      answered++
    }
    expect(answered).toBeGreaterThan(100)
  })
})
