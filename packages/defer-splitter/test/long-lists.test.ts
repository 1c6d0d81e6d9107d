import { makeExecutableSchema } from '@graphql-tools/schema'
import { createDisposables, requestMultipart } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { listen } from './support/listen.ts'
import { createTestServer } from './support/server.ts'

const COUNT = 4_000
const typeDefs = /* GraphQL */ `
  type Query {
    fast: String
    things: [Thing]
    bad: [Thing!]
  }
  type Thing {
    id: ID!
    late: ID!
  }
`

/** Whose resolvers note in which turn of the event loop they are called. */
async function serve() {
  const disposables = createDisposables(onTestFinished)
  const calls: number[] = []
  let turn = 0
  let timer: NodeJS.Immediate
  const count = (): void => {
    turn++
    timer = setImmediate(count)
  }
  timer = setImmediate(count)
  onTestFinished(() => clearImmediate(timer))
  const things = Array.from({ length: COUNT }, (_, index) => ({ index }))
  const schema = makeExecutableSchema({
    typeDefs,
    resolvers: {
      Query: { fast: () => 'fast', things: () => things, bad: () => things },
      Thing: {
        id: ({ index }: { index: number }) => {
          calls.push(turn)
          return String(index)
        },
        // Its failures come while later slices are still to be begun.
        late: async ({ index }: { index: number }) => {
          if (index === 7) throw new Error('no seventh')
          return String(index)
        },
      },
    },
  })
  const url = await listen(createTestServer({ schema }).yoga, disposables)
  return { url, calls }
}

it.each([
  ['in a deferred fragment', '{ fast ... @defer { things { id } } }'],
  ['beside one', '{ things { id } ... @defer { fast } }'],
])('a long list %s takes many turns of the event loop', async (_, query) => {
  const { url, calls } = await serve()
  const response = await requestMultipart(url, { body: { query } })
  const parts = (await response.allParts()).map((part) => part.json())
  const data = Object.assign(
    {},
    ...parts.flatMap((part) => [part.data, ...(part.incremental ?? []).map((patch: any) => patch.data)]),
  )
  expect(data.fast).toBe('fast')
  expect(data.things).toEqual(Array.from({ length: COUNT }, (_unused, index) => ({ id: String(index) })))
  const perTurn = new Map<number, number>()
  for (const turn of calls) perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(500)
})

it('an item that fails before the list is done is one error, and nulls the list', async () => {
  const { url } = await serve()
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  const response = await requestMultipart(url, { body: { query: '{ fast ... @defer { bad { late } } }' } })
  const patches = (await response.allParts()).flatMap((part) => part.json().incremental ?? [])
  expect(patches).toHaveLength(1)
  expect(patches[0]).toMatchObject({ data: { bad: null }, errors: [{ path: ['bad', 7, 'late'] }] })
  expect(unheard).toEqual([])
})
