import { isDeepStrictEqual } from 'node:util'
import { openWorld, type World } from './world.ts'
import { createDisposables, ignoreForgottenErrors } from '@vinyasa/test-kit'
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { begin, changeElsewhere, changeIn, type Elsewhere, holding, inTurns, made } from './backends.ts'
import { comparable, type Result } from './compare.ts'
import { KEYS, situation, type Situation } from './data.ts'
import { asAsked, asLive, drawnDocument, type Operation, writeOperation } from './draw-document.ts'
import type { Followed, Server } from './servers.ts'

// Whoever follows a live query has what there is soon after each change, whoever made it, beside others who follow the same
// or something else, while runs are under way, with plans and without, from a cache or not.

// Files may share their modules: this one wants its own, and leaves none of them behind.
vi.hoisted(() => void vi.resetModules())
afterAll(() => void vi.resetModules())

const cleanup = createDisposables(afterAll)
const seen = { streams: 0, changes: 0, updates: 0, failing: 0 }
let world: World

beforeAll(async () => {
  world = await openWorld(cleanup)
})

interface Change {
  /** What is asked of the server, or made elsewhere. */
  readonly made: Operation | Elsewhere
  readonly user: string
  /** The next one comes while runs are under way. */
  readonly isHurried: boolean
}

interface Case {
  readonly given: Situation
  readonly followed: readonly { readonly query: Operation; readonly user: string }[]
  readonly changes: readonly Change[]
}

function isAsWanted(text: string, wanted: Result): boolean {
  const [got, want] = [comparable(JSON.parse(text) as Result), comparable(wanted)]
  if (want.data === undefined) return got.data === undefined
  const [is, should] = [got, want].map(({ data, places, gone }) => ({ data, places, gone }))
  return isDeepStrictEqual(is, should)
}

async function checkServer(name: string, server: Server, { given, followed, changes }: Case): Promise<void> {
  begin(given)
  const held = holding(given)
  const opening = followed.map(({ query, user }) => server.follow(asLive(query), user))
  const streams = await inTurns(Promise.all(opening))
  try {
    await checkAll('at first')
    for (const row of inRows(changes)) {
      // The next one is made as soon as one is answered, whatever runs are under way then.
      const asked = await inTurns(
        (async () => {
          const since: number[] = []
          for (const { made: change, user } of row) {
            since.push(made.length)
            if ('query' in change) await server.ask([asAsked(change)], user, 'whole')
            else {
              changeElsewhere(change)
              await server.announce(change.type, change.id)
            }
          }
          return since
        })(),
      )
      for (const [at, { made: change, user }] of row.entries())
        if ('query' in change) await world.truth(change, held, user, made, asked[at] as number)
        else changeIn(held, change)
      seen.changes += row.length
      await checkAll(`after ${row.map(({ made: change }) => JSON.stringify(change)).join(', ')}`)
    }
    for (const { updates } of streams) seen.updates += updates
    seen.streams += streams.length
  } finally {
    for (const stream of streams) stream.close()
    await inTurns(Promise.resolve())
  }

  async function checkAll(when: string): Promise<void> {
    for (const [index, { query, user }] of followed.entries()) {
      const { result, isUnclear } = await world.truth(query, held, user, made, 0)
      if (isUnclear) continue
      if (result.errors) seen.failing++
      const stream = streams[index] as Followed
      for (let left = 60; left > 0 && !isAsWanted(stream.latest, result as Result); left--)
        await inTurns(setTimeout(left > 50 ? 0 : 20))
      if (isAsWanted(stream.latest, result as Result)) continue
      const wanted = JSON.stringify(result)
      expect.fail(
        [
          `${name}, stream ${index} of ${user}, ${when}`,
          query.query,
          JSON.stringify(query.variables),
          stream.latest,
          `wanted ${wanted}`,
        ].join('\n'),
      )
    }
  }
}

const elsewhere = fc.option(
  fc.record({
    // Nothing leads on from a badge: only what selects one hears of it.
    type: fc.constantFrom('User' as const, 'Item' as const, 'Badge' as const),
    id: fc.constantFrom(...KEYS),
    name: fc.constantFrom('e1', 'e2'),
  }),
  { nil: undefined, freq: 2 },
)

/** Changes that come right behind each other. */
function inRows(changes: readonly Change[]): readonly (readonly Change[])[] {
  const rows: Change[][] = []
  for (const [at, change] of changes.entries()) {
    if (at > 0 && changes[at - 1]?.isHurried) rows.at(-1)?.push(change)
    else rows.push([change])
  }
  return rows
}

let cases = 0

describe('live queries', () => {
  it('have what there is soon after each change', { timeout: 240_000 }, async () => {
    onTestFinished(ignoreForgottenErrors())
    const { schema, servers } = world
    await fc.assert(
      fc.asyncProperty(
        situation,
        fc.array(drawnDocument, { minLength: 1, maxLength: 2 }),
        fc.array(fc.record({ which: fc.nat(1), user: fc.nat(1), isOther: fc.boolean() }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.array(fc.record({ drawn: drawnDocument, elsewhere, user: fc.nat(1), isHurried: fc.boolean() }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.record({ yes: fc.boolean(), no: fc.boolean(), maybe: fc.boolean() }),
        async ({ data, delays, faults }, documents, following, changing, flags) => {
          // One text with other variables, too.
          const queries = [flags, { yes: !flags.yes, no: !flags.no, maybe: !flags.maybe }].map((given) =>
            documents.map((drawn) => writeOperation(schema, { ...drawn, isDeferred: false }, 'query', given)),
          )
          const userOf = (number: number) => `u${number}.${cases}`
          const changes = changing.map(({ drawn, elsewhere, user, isHurried }) => ({
            made: elsewhere ?? writeOperation(schema, { ...drawn, isDeferred: false }, 'mutation', flags),
            user: userOf(user),
            isHurried,
          }))
          const asked = changes.flatMap(({ made: change }) => ('query' in change ? change : []))
          for (const { query } of [...queries.flat(), ...asked])
            fc.pre(validate(schema, parse(query)).length === 0)
          const followed = following.map(({ which, user, isOther }) => ({
            query: queries[Number(isOther)]?.[which % documents.length] as Operation,
            user: userOf(user),
          }))
          // What fails fails always, as nobody knows which run comes when.
          const given = { data, delays, faults: faults.filter(({ nth }) => nth === undefined) }
          cases++
          for (const [name, server] of servers) await checkServer(name, server, { given, followed, changes })
        },
      ),
      {
        // Each smaller case would wait for what does not come.
        endOnFailure: true,
        numRuns: Number(process.env['PROPERTY_RUNS'] ?? 80),
        seed: Number(process.env['PROPERTY_SEED'] ?? 20261127),
      },
    )
    // A property of streams that nothing happens to would show nothing.
    expect(seen.updates).toBeGreaterThan(2 * seen.streams)
    expect(seen.failing).toBeGreaterThan(seen.streams / 2)
  })
})
