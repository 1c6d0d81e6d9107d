import { createSchema, createYoga } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { cacheControlTypeDefs, useResponseCache, type ResponseCacheOptions } from '../src/index.ts'

/** Where something may be stated, and a query that has to do with it. */
const PLACES = {
  Query: '{ leaf }',
  'Query.leaf': '{ leaf }',
  'Query by its name alone': '{ __typename }',
  User: '{ user { name } }',
  'User.name': '{ user { name } }',
  'Node, which a returned object implements': '{ user { name } }',
  'Node.id, selected on the object': '{ user { id } }',
  'Node, returned': '{ node { id } }',
  'Named, which Node implements': '{ node { id } }',
  'User, behind an interface': '{ node { id } }',
  'User.id, selected on the interface': '{ node { id } }',
  'Found, a union': '{ found { __typename } }',
  'User, behind a union': '{ found { __typename } }',
  'User, behind entities': '{ _entities { __typename } }',
  Moment: '{ moment }',
} as const
type Place = keyof typeof PLACES
const coordinateOf = (place: Place): string => place.split(/,| by /)[0] as string

/** A schema in which `words` stand at a coordinate. */
function sdl(coordinate: string, words: string): string {
  const at = (own: string): string => (own === coordinate ? ` ${words}` : '')
  return /* GraphQL */ `
    ${cacheControlTypeDefs}
    scalar Moment
    interface Named${at('Named')} { label: String }
    interface Node implements Named${at('Node')} { id: ID${at('Node.id')} label: String }
    type User implements Node & Named${at('User')} { id: ID${at('User.id')} label: String name: String${at('User.name')} }
    union Found${at('Found')} = User
    union _Entity = User
    type Query${at('Query')} {
      leaf: String${at('Query.leaf')}
      user: User
      node: Node
      found: Found
      moment: Moment
      _entities: [_Entity]
      other: Int
    }
  `
}

const user = { __typename: 'User', id: '1', name: 'Ada', label: 'x' }

function serve(typeDefs: string, options: ResponseCacheOptions = {}) {
  const yoga = createYoga({
    schema: createSchema({
      typeDefs,
      resolvers: {
        Query: {
          leaf: () => 'leaf',
          user: () => user,
          node: () => user,
          found: () => user,
          moment: () => 'now',
          _entities: () => [user],
        },
      },
    }),
    logging: false,
    plugins: [useResponseCache(options)],
  })
  return async (query: string, headers: Record<string, string> = {}): Promise<string | null> => {
    const url = `http://x/graphql?query=${encodeURIComponent(query)}`
    const response = await yoga.fetch(url, { headers: { accept: 'application/json', ...headers } })
    expect(await response.json()).not.toHaveProperty('errors')
    return response.headers.get('x-cache')
  }
}

const places = Object.keys(PLACES) as Place[]
const annotated = places.filter((place) => place !== 'Moment')

describe('what is stated at any coordinate', () => {
  it.each(annotated)(
    'PRIVATE on %s: nobody without an identity is answered from the cache',
    async (place) => {
      const get = serve(sdl(coordinateOf(place), '@cacheControl(scope: PRIVATE)'))
      await get(PLACES[place])
      expect(await get(PLACES[place])).toBe('BYPASS')
      const headers = { authorization: 'Bearer a' }
      await get(PLACES[place], headers)
      expect(await get(PLACES[place], headers)).toBe('HIT')
    },
  )

  it.each(annotated)('maxAge 0 on %s: it is never stored', async (place) => {
    const get = serve(sdl(coordinateOf(place), '@cacheControl(maxAge: 0)'))
    await get(PLACES[place])
    expect(await get(PLACES[place])).toBe('BYPASS')
  })

  it.each(places)('a lifetime of 0 by the coordinate of %s', async (place) => {
    const get = serve(sdl('', ''), { ttlMsBySchemaCoordinate: { [coordinateOf(place)]: 0 } })
    await get(PLACES[place])
    expect(await get(PLACES[place])).toBe('BYPASS')
  })

  it('what the document has nothing to do with changes nothing', async () => {
    const get = serve(sdl('User', '@cacheControl(maxAge: 0)'), {
      ttlMsBySchemaCoordinate: { Node: 0, toString: 0 } as never,
    })
    await get('{ leaf other }')
    expect(await get('{ leaf other }')).toBe('HIT')
  })

  it('the strictest of a definition and its extensions counts', async () => {
    const extended = `${sdl('Query', '@cacheControl(maxAge: 60)')} extend type Query @cacheControl(scope: PRIVATE)`
    const get = serve(extended)
    await get('{ leaf }')
    expect(await get('{ leaf }')).toBe('BYPASS')
  })
})
