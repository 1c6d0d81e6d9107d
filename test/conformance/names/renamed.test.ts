import { createRandom } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { validateSchema } from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { drawOperation } from './draw-operation.ts'
import { drawRenames, readBack, translate, type Renames } from './translate.ts'
import { serve, startWorld, type Served, type World } from './world.ts'

// Whatever clients call the types and fields of sources, the same is asked of the backends and comes back.

let world: World
let plain: Served
const plainEvents: string[] = []
beforeAll(async () => {
  world = await startWorld()
  plain = await serve(world, { onPlan: ({ outcome }) => plainEvents.push(outcome) })
})
afterAll(async () => {
  await plain.stop()
  await world.stop()
})

const REST_TYPES = new Set([
  'Pet',
  'Keeper',
  'Robot',
  'Mood',
  'Mark',
  'Friend',
  'PetInput',
  'MarkInput',
  'BetterInput',
])
const REST_FIELDS = /^(Query\.(pet|friend|petsById)|Mutation\.addPet)\b/

function split(renames: Renames): { grpc: Record<string, string>; rest: Record<string, string> } {
  const isRest = (coordinate: string): boolean =>
    REST_FIELDS.test(coordinate) || REST_TYPES.has(coordinate.replace(/\..*$/, ''))
  const entries = [...renames]
  return {
    grpc: Object.fromEntries(
      entries.filter(([coordinate]) => !isRest(coordinate) && !coordinate.startsWith('Person.pet(')),
    ),
    rest: Object.fromEntries(entries.filter(([coordinate]) => isRest(coordinate))),
  }
}

/** What the backends were asked since then, key by key: how many keys come in one batch is a matter of time. */
function asked({ grpc, rest }: World, calls: number, requests: number): string[] {
  const ofGrpc = grpc.calls.slice(calls).flatMap(({ method, request }) => {
    const { ids = [''] } = request as { readonly ids?: readonly string[] }
    return ids.map((id) => `${method} ${JSON.stringify({ ...request, ids: [id] })}`)
  })
  const ofRest = rest.requests.slice(requests).flatMap(({ method, url, body }) => {
    const { pathname, searchParams } = url
    const ids = searchParams.getAll('ids')
    searchParams.delete('ids')
    return [...ids, ...(ids.length === 0 ? [''] : [])].map(
      (id) => `${method} ${pathname} ${id} ${searchParams.toString()} ${body.toString()}`,
    )
  })
  return [...new Set([...ofGrpc, ...ofRest])].sort()
}

/** Fields that no plan takes in: unions, and joins of one key each. */
const UNPLANNED = new Set(['Person.pays', 'Person.home', 'Pet.friend', 'Query.friend', 'Pet.ownerAlone'])

interface Run {
  readonly text: string
  readonly asked: readonly string[]
  readonly outcomes: readonly string[]
}

/** Documents are planned once: what was said of each then. */
const outcomesOf = new WeakMap<Served, Map<string, readonly string[]>>()

async function run(server: Served, events: string[], query: string, variables: object): Promise<Run> {
  const before = [world.grpc.calls.length, world.rest.requests.length] as const
  events.length = 0
  const answer = await server.ask(query, variables)
  const known = outcomesOf.get(server) ?? new Map<string, readonly string[]>()
  outcomesOf.set(server, known)
  const outcomes = known.get(query) ?? [...events]
  known.set(query, outcomes)
  return { text: JSON.stringify(answer.data ?? answer), asked: asked(world, ...before), outcomes }
}

it('operations in new names ask the same of backends, are planned alike, and give the same', async () => {
  const planned = { with: 0, without: 0 }
  let answered = 0
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.double({ min: 0.05, max: 1, noNaN: true }), async (seed, chance) => {
      const random = createRandom(seed, 'names')
      const renames = drawRenames(plain.schema, random, chance)
      const events: string[] = []
      const server = await serve(world, {
        ...mapValues(split(renames), (rename) => ({ rename })),
        client: (coordinate) => renames.get(coordinate) ?? coordinate.replace(/^.*\./, ''),
        onPlan: ({ outcome }) => events.push(outcome),
      })
      try {
        expect(validateSchema(server.schema)).toEqual([])
        for (let round = 0; round < 8; round++) {
          const without = round % 2 === 0 ? UNPLANNED : undefined
          const operation = drawOperation(plain.schema, random, round === 7, without)
          const expected = await run(plain, plainEvents, operation.query, operation.variables)
          const translated = translate(plain.schema, renames, operation)
          const found = await run(server, events, translated.query, translated.variables)
          expect(readBack(renames, found.text)).toBe(expected.text)
          expect(found.asked).toEqual(expected.asked)
          expect(found.outcomes).toEqual(expected.outcomes)
          if (expected.text.startsWith('{"a')) answered++
          if (expected.outcomes.join() === 'planned') planned[without ? 'without' : 'with']++
        }
      } finally {
        await server.stop()
      }
    }),
    { numRuns: 15, endOnFailure: true },
  )
  expect(answered).toBeGreaterThan(30)
  expect(planned.without).toBeGreaterThan(8)
}, 300_000)

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  of: (value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, of(value)]))
}
