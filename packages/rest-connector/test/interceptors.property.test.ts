import { createDisposables, startRestBackend, type RestHandler } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import {
  createRestConnector,
  setHeaders,
  type RequestInterceptor,
  type RestConnectorOptions,
} from '../src/index.ts'
import type { HeaderValues } from '../src/interceptors/set-headers.ts'
import type { OutgoingRequest } from '../src/interceptors/interceptor.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const name = fc.constantFrom(
  'x-one',
  'X-One',
  'x-two',
  'authorization',
  'accept',
  'traceparent',
  'no name',
  '',
  'é',
)
const piece = fc.constantFrom('a', 'b', ' ', '\t', '\n', '\r', '\0', 'é', '€', ',', 'long '.repeat(20))
const value = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''))
/** What JavaScript lets through: `Headers` make a text of everything. */
const others = fc.constantFrom<unknown>(5, 0n, true, null, undefined, ['a', 'b'], new Date(0), Symbol('no'))
const headers = fc
  .tuple(
    fc.dictionary(name, fc.oneof({ weight: 5, arbitrary: value }, others), { maxKeys: 3 }),
    fc.constantFrom('plain', 'plain', 'inherited', 'a map', 'Headers'),
  )
  .map(([members, kind]) => {
    if (kind === 'inherited') return Object.create(members) as typeof members
    if (kind === 'a map') return new Map(Object.entries(members)) as unknown as typeof members
    return kind === 'Headers' ? (new Headers({ 'x-one': 'a' }) as unknown as typeof members) : members
  }) as fc.Arbitrary<HeaderValues>
const sources = fc.array(
  fc.record({
    headers,
    given: fc.constantFrom('at once', 'as a promise', 'as a thenable'),
    fails: fc.constantFrom(false, false, false, true),
  }),
  {
    minLength: 1,
    maxLength: 3,
  },
)

/** One that may do anything, for all that is known, and does nothing. */
const nothing: RequestInterceptor = Object.assign(() => {}, { readsHeaders: [] })

async function serve(handler: RestHandler, options: Partial<RestConnectorOptions> = {}) {
  const backend = cleanup.use(await startRestBackend(handler))
  const open = (interceptors: readonly RequestInterceptor[]) =>
    cleanup.use(
      createRestConnector('c', {
        baseUrl: `${backend.url}/api`,
        endpoints: [{ name: 'get', path: '/x', headers: { 'X-Two': 'declared' } }],
        noRetry: true,
        interceptors,
        ...options,
      }),
    )
  return { backend, open }
}

it('interceptors that only set headers send what they would send beside others', async () => {
  const { open } = await serve(({ headers: sent }) => ({ json: sent }))
  await fc.assert(
    fc.asyncProperty(sources, async (given) => {
      const interceptors = given.map(({ headers: set, given: how, fails }) => {
        const read = (): typeof set => {
          if (fails) throw new Error('c4n4ry')
          return set
        }
        if (how === 'at once') return setHeaders(read)
        const later = async (): Promise<typeof set> => read()
        // oxlint-disable-next-line unicorn/no-thenable -- as the promises of other libraries are
        const thenable = (): PromiseLike<typeof set> => ({ then: (...given) => later().then(...given) })
        return setHeaders(how === 'as a promise' ? later : (thenable as typeof later))
      })
      const outcome = async (all: readonly RequestInterceptor[]): Promise<unknown> => {
        const connector = open(all)
        return await connector
          .execute('get')
          .catch((error: Error) => `${error.message} ${JSON.stringify(error)}`)
      }
      const alone = await outcome(interceptors)
      expect(alone).toEqual(await outcome([nothing, ...interceptors]))
      expect(JSON.stringify(alone)).not.toContain('c4n4ry')
    }),
    { numRuns: 300 },
  )
})

interface Change {
  readonly headers: Readonly<Record<string, string | null>>
  readonly query: string
  readonly body: string | undefined
}

const change: fc.Arbitrary<Change> = fc.record({
  headers: fc.dictionary(
    fc.constantFrom('x-one', 'x-two', 'traceparent', 'x-request-id'),
    fc.constantFrom('a', 'b', 'declared', null),
    { maxKeys: 2 },
  ),
  query: fc.constantFrom('', '?a'),
  body: fc.constantFrom(undefined, undefined, 'one', 'two'),
})

function apply(request: OutgoingRequest, { headers: changed, query, body }: Change): void {
  for (const [header, set] of Object.entries(changed))
    if (set === null) request.headers.delete(header)
    else request.headers.set(header, set)
  request.url.search = query
  request.body = body
}

it('two callers share an answer where their requests are the same but for tracing, and nowhere else', async () => {
  const { backend, open } = await serve(({ headers: sent, rawUrl, body }) => ({
    json: [sent['x-one'], sent['x-two'], rawUrl, String(body)],
  }))
  const connector = open([(request, { context }) => apply(request, context as Change)])
  await fc.assert(
    fc.asyncProperty(change, change, async (one, other) => {
      const before = backend.requests.length
      const ask = (context: Change): Promise<unknown> => connector.execute('get', {}, { context })
      const together = await Promise.all([ask(one), ask(other)])
      const asked = backend.requests.length - before
      const alone = [await ask(one), await ask(other)]
      expect(together).toEqual(alone)
      expect(asked).toBe(JSON.stringify(alone[0]) === JSON.stringify(alone[1]) ? 1 : 2)
    }),
    { numRuns: 300 },
  )
})
