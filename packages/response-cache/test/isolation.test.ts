import { createFakeClock } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { GraphQLError } from 'graphql'
import { createSchema, createYoga } from 'graphql-yoga'
import { describe, expect, it, vi } from 'vitest'
import {
  createResponseCache,
  useResponseCache,
  type CacheEvent,
  type ResponseCacheOptions,
} from '../src/index.ts'
import { ask } from './kit.ts'

const names = ['authorization', 'cookie', 'x-tenant', 'x-region', 'x-locale'] as const
type HeaderName = (typeof names)[number]

interface Reads {
  /** Headers that the source of `mine` reads, and says so. */
  readonly mine: readonly HeaderName[]
  /** Those of the field of a joined type. */
  readonly joined: readonly HeaderName[]
  readonly unknown?: string
}

/** A server whose fields answer with what they read of the request, and say what that is. */
function serve(reads: Reads, options: ResponseCacheOptions = {}, store = createResponseCache(options)) {
  let gate: Promise<unknown> | undefined
  const read =
    (list: readonly HeaderName[]) => (_root: unknown, _args: unknown, context: { request: Request }) =>
      list.map((name) => `${name}=${context.request.headers.get(name)}`).join(' ')
  const schema = createSchema<{ request: Request }>({
    typeDefs: 'type Query { mine: Mine same: Int } type Mine { id: ID value: String joined: String }',
    resolvers: {
      Query: {
        async mine(root, args, context) {
          await gate
          return { id: '1', value: read(reads.mine)(root, args, context) }
        },
        same: () => 1,
      },
      Mine: { joined: read(reads.joined) },
    },
  })
  const variesByOf = (headers: readonly string[], unknown?: string) => ({ variesBy: { headers, unknown } })
  Object.assign(
    schema.getQueryType()?.getFields()['mine']?.extensions ?? {},
    variesByOf(reads.mine, reads.unknown),
  )
  const mine = schema.getType('Mine')
  if (mine && 'getFields' in mine)
    Object.assign(mine.getFields()['joined']?.extensions ?? {}, variesByOf(reads.joined))
  const yoga = createYoga({ schema, logging: false, plugins: [useResponseCache(store)] })
  return { yoga, hold: (until: Promise<unknown> | undefined) => (gate = until) }
}

const some = fc.subarray([...names])
const requests = fc.array(
  fc.record({
    headers: fc.dictionary(fc.constantFrom(...names), fc.constantFrom('a', 'b', '')),
    query: fc.constantFrom(
      '{ mine { value } }',
      '{ mine { value joined } }',
      '{ mine { joined id } same }',
      '{ same }',
    ),
    method: fc.constantFrom('GET' as const, 'POST' as const),
  }),
  { minLength: 2, maxLength: 12 },
)
const options = fc.record(
  {
    varyHeaders: fc.constantFrom([], ['Authorization'], ['X-Locale']),
    strategy: fc.constantFrom('types' as const, 'entities' as const),
    staleWhileRevalidateMs: fc.constantFrom(0, 10_000),
  },
  { requiredKeys: [] },
)

describe('whatever a source reads, and whatever the options', () => {
  it('nobody gets what was computed from other headers, one after another or at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        some,
        some,
        options,
        requests,
        fc.boolean(),
        async (mine, joined, given, asked, atOnce) => {
          const { yoga, hold } = serve({ mine, joined }, given)
          const one = async ({ headers, query, method }: (typeof asked)[number]) => {
            const { json } = await ask({ yoga }, query, {
              headers: headers as Record<string, string>,
              method,
            })
            const value = (list: readonly HeaderName[]) =>
              list.map((name) => `${name}=${headers[name] ?? null}`).join(' ')
            const expected = {
              ...(query.includes('value') ? { value: value(mine) } : {}),
              ...(query.includes('joined') ? { joined: value(joined) } : {}),
            }
            return [json.data.mine ?? {}, expected] as const
          }
          const answers: (readonly [object, object])[] = []
          if (atOnce) {
            let open = (): void => {}
            hold(new Promise<void>((resolve) => (open = resolve)))
            const pending = asked.map(one)
            setImmediate(open)
            answers.push(...(await Promise.all(pending)))
          } else {
            for (const request of asked) answers.push(await one(request))
          }
          for (const [found, expected] of answers) expect(found).toMatchObject(expected)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('those who differ in nothing that is read share an entry', async () => {
    const { yoga } = serve({ mine: ['x-tenant'], joined: ['x-region'] }, { varyHeaders: [] })
    const one = '{ mine { value } }'
    await ask({ yoga }, one, { headers: { 'x-tenant': 'a', 'x-region': 'r' } })
    const other = { 'x-tenant': 'a', 'x-region': 's', authorization: 'c' }
    expect((await ask({ yoga }, one, { headers: other })).cache).toBe('HIT')
    expect((await ask({ yoga }, '{ same }', { headers: other })).cache).toBe('MISS')
    expect((await ask({ yoga }, '{ same }', {})).cache).toBe('HIT')
  })
})

describe('on the wire', () => {
  it('Vary names what the options and the sources of the selected fields read', async () => {
    const { yoga } = serve({ mine: ['x-tenant'], joined: ['x-region'] })
    const vary = async (query: string) =>
      (await ask({ yoga }, query, { method: 'GET' })).headers.get('vary')?.toLowerCase().split(', ').sort()
    // A cookie keeps a request out of this cache, so others must not answer it from what is kept for one without.
    const always = ['accept', 'authorization', 'cookie']
    expect(await vary('{ same }')).toEqual(always)
    expect(await vary('{ mine { value } }')).toEqual([...always, 'x-tenant'])
    expect(await vary('{ mine { joined } }')).toEqual([...always, 'x-region', 'x-tenant'])
  })

  it('with a session nothing is for everybody: no cache on the way can tell who is nobody', async () => {
    const session = ({ request }: any): string | null => request.headers.get('x-key')
    const { yoga } = serve({ mine: [], joined: [] }, { session, clientMaxAge: true })
    const callers: readonly Record<string, string>[] = [{}, { 'x-key': 'ann' }]
    for (const headers of callers)
      for (const cache of ['MISS', 'HIT']) {
        const answer = await ask({ yoga }, '{ mine { value } }', { method: 'GET', headers })
        expect([answer.cache, answer.headers.get('cache-control')]).toEqual([
          cache,
          expect.stringMatching(/^private, max-age=/),
        ])
      }
  })

  it('with code that keeps some out nothing is for everybody', async () => {
    const enabled = ({ request }: any): boolean => request.headers.get('x-preview') === null
    const { yoga } = serve(
      { mine: [], joined: [] },
      { enabled, clientMaxAge: true, platform: { clock: createFakeClock() } },
    )
    const control = async (headers: Record<string, string>) => {
      const answer = await ask({ yoga }, '{ mine { value } }', { method: 'GET', headers })
      return [answer.cache, answer.headers.get('cache-control')]
    }
    expect(await control({})).toEqual(['MISS', 'private, max-age=60'])
    expect(await control({ 'x-preview': '1' })).toEqual(['BYPASS', 'private, no-store'])
  })

  it('Vary names what always counts where no header else does', async () => {
    const { yoga } = serve({ mine: [], joined: [] }, { varyHeaders: [] })
    for (const query of ['{ same }', '{ none }', '{ __typename }'])
      expect((await ask({ yoga }, query, { method: 'GET' })).headers.get('vary')).toBe('Accept, Cookie')
  })

  it('an answer for somebody that is not kept here must not be kept elsewhere', async () => {
    const { yoga } = serve({ mine: [], joined: [] })
    const control = async (headers: Record<string, string>) => {
      const answer = await ask({ yoga }, '{ mine { value } }', { method: 'GET', headers })
      return [answer.cache, answer.headers.get('cache-control')]
    }
    expect(await control({ cookie: 'a=1' })).toEqual(['BYPASS', 'private, no-store'])
    expect(await control({})).toEqual(['MISS', 'public, no-cache'])
    expect(await control({ authorization: 'x' })).toEqual(['MISS', 'private, no-cache'])
    const unknown = serve({ mine: [], joined: [], unknown: 'an interceptor' }, { onEvent: () => {} })
    const answer = await ask(unknown, '{ mine { value } }')
    expect([answer.cache, answer.headers.get('cache-control')]).toEqual(['BYPASS', 'private, no-store'])
  })
})

describe('cookies', () => {
  const rows: readonly [string, readonly HeaderName[], ResponseCacheOptions, string][] = [
    ['nobody says that they count', [], {}, 'BYPASS'],
    ['varyHeaders names other headers', [], { varyHeaders: ['x-tenant'] }, 'BYPASS'],
    ['varyHeaders is empty', [], { varyHeaders: [] }, 'BYPASS'],
    ['varyHeaders names them', [], { varyHeaders: ['Cookie'] }, 'HIT'],
    ['a source forwards them', ['cookie'], {}, 'HIT'],
    ['session says who asks', [], { session: () => 'somebody' }, 'HIT'],
  ]
  it.each(rows)('%s', async (_title, mine, given, expected) => {
    const { yoga } = serve({ mine, joined: [] }, given)
    const headers = { cookie: 'session=a' }
    await ask({ yoga }, '{ mine { value } }', { headers })
    expect((await ask({ yoga }, '{ mine { value } }', { headers })).cache).toBe(expected)
  })
})

describe('a session of nobody', () => {
  const rows: readonly [string, readonly HeaderName[], ResponseCacheOptions, string][] = [
    ['takes nothing from the header that separates users by default', [], {}, 'MISS'],
    ['shares answers where varyHeaders says that no header counts', [], { varyHeaders: [] }, 'HIT'],
    ['shares none of a source that reads the header', ['authorization'], { varyHeaders: [] }, 'MISS'],
  ]
  it.each(rows)('%s', async (_title, mine, given, expected) => {
    const { yoga } = serve({ mine, joined: [] }, { session: () => null, ...given })
    const as = (authorization: string) => ask({ yoga }, '{ mine { value } }', { headers: { authorization } })
    await as('Bearer a')
    const other = await as('Bearer b')
    expect(other.cache).toBe(expected)
    expect((await as('Bearer a')).cache).toBe('HIT')
  })
})

describe('a source that cannot say who its answers are for', () => {
  const reads: Reads = {
    mine: [],
    joined: [],
    unknown: 'rest connector "t": interceptors[0] can depend on the caller',
  }

  it('keeps its operations out of the cache, and says so once', async () => {
    const events: CacheEvent[] = []
    const { yoga } = serve(reads, { onEvent: (event) => void events.push(event) })
    for (const _time of [1, 2]) expect((await ask({ yoga }, '{ mine { value } }')).cache).toBe('BYPASS')
    for (const cache of ['MISS', 'HIT']) expect((await ask({ yoga }, '{ same }')).cache).toBe(cache)
    const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.warning] : []))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toBeInstanceOf(GraphQLError)
    expect(warnings[0]?.message).toMatch(/interceptors\[0\].*session/)
  })

  it('without onEvent the console hears of it', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await ask(serve(reads), '{ mine { value } }')
    expect(warn).toHaveBeenCalledOnce()
    warn.mockRestore()
  })

  it('session stands in for it', async () => {
    const { yoga } = serve(reads, {
      session: ({ request }) => (request as Request).headers.get('x-tenant'),
    })
    const caches: (string | null)[] = []
    for (const tenant of ['a', 'b', 'a'])
      caches.push((await ask({ yoga }, '{ mine { value } }', { headers: { 'x-tenant': tenant } })).cache)
    expect(caches).toEqual(['MISS', 'MISS', 'HIT'])
  })
})

it('a batch carries no-store as soon as one of its answers is for somebody', async () => {
  const { yoga } = serve({ mine: ['x-tenant'], joined: [], unknown: 'x' }, { onEvent: () => {} })
  const response = await createBatch(yoga)
  expect(response.headers.get('cache-control')).toBe('private, no-store')
})

function createBatch(yoga: ReturnType<typeof serve>['yoga']): Promise<Response> {
  return Promise.resolve(
    createYoga({
      schema: yoga.getEnveloped({}).schema as never,
      batching: true,
      plugins: [useResponseCache({ onEvent: () => {} })],
    }).fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ query: '{ same }' }, { query: '{ mine { value } }' }]),
    }),
  )
}
