import { isDeepStrictEqual } from 'node:util'
import { openWorld, type World } from './world.ts'
import { createDisposables, ignoreForgottenErrors } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { mergeDeferred } from '../../bench/src/merge-deferred.ts'
import { begin, holding, inTurns, made } from './backends.ts'
import { comparable, isWithin, type Result } from './compare.ts'
import { situation, type Situation } from './data.ts'
import { asAsked, asLive, drawnDocument, type Operation, writeOperation } from './draw-document.ts'
import type { Server, Way } from './servers.ts'

// Whoever asks gets what there is: with plans and without, alone or beside others who ask the same or something else, in one
// part or in several, from a cache or not, in whatever order the backends reply and whichever of their calls fail. What
// there is, resolvers say that read it off the data.

// Files may share their modules: this one wants its own, and leaves none of them behind.
vi.hoisted(() => void vi.resetModules())
afterAll(() => void vi.resetModules())

const cleanup = createDisposables(afterAll)
const outcomes = { planned: 0, unplanned: 0, 'fell-back': 0 }
const seen = { answers: 0, unclear: 0, inParts: 0, live: 0, failing: 0 }
let world: World

beforeAll(async () => {
  world = await openWorld(cleanup, ({ outcome }) => void outcomes[outcome]++)
})

/** Several who ask at once, or one who changes something. */
interface Step {
  readonly asking: readonly { readonly which: number; readonly user: number; readonly how: number }[]
  readonly isChange: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  asking: fc.oneof(
    { weight: 1, arbitrary: fc.tuple(fc.record({ which: fc.nat(3), user: fc.nat(1), how: fc.nat(3) })) },
    {
      weight: 1,
      arbitrary: fc.array(fc.record({ which: fc.nat(3), user: fc.nat(1), how: fc.nat(3) }), {
        minLength: 2,
        maxLength: 4,
      }),
    },
  ),
  isChange: fc.constantFrom(false, false, false, true),
})

function whole(text: string): Result {
  if (text.startsWith('{')) return JSON.parse(text) as Result
  const bodies = [...text.matchAll(/^\{.*\}$/gm)].map(([body]) => JSON.parse(body))
  const patches = bodies.flatMap(({ incremental = [] }) => incremental)
  const usable = bodies.map((part) => ({
    ...part,
    incremental: (part.incremental ?? []).filter(({ data }: any) => data),
  }))
  return {
    data: bodies[0].data && (mergeDeferred(usable) as Result['data']),
    errors: [...bodies, ...patches].flatMap(({ errors = [] }) => errors),
  }
}

interface Case {
  readonly given: Situation
  readonly queries: readonly Operation[]
  readonly mutation: Operation
  readonly steps: readonly Step[]
  /** Of users whom no cache knows. */
  readonly suffix: string
}

function wayOf({ isDeferred }: Operation, how: number): Way {
  if (how === 0 || how === 3) return 'whole'
  return isDeferred ? 'in parts' : how === 1 ? 'live' : 'whole'
}

/** Says why an answer is wrong, if it is. `known`: the errors that another server gave, where the same calls failed. */
function wrongIn(
  answer: Result,
  wanted: Result,
  isInParts: boolean,
  known: { errors?: readonly string[] },
): string | undefined {
  const [got, want] = [comparable(answer), comparable(wanted)]
  if (want.data === undefined) return got.data === undefined ? undefined : 'wanted a refusal'
  if (want.places.length + want.gone.length > 0) {
    seen.failing++
    if (isInParts) return isWithin(got.data, want.data) ? undefined : `wanted ${JSON.stringify(want.data)}`
  }
  const [is, should] = [got, want].map(({ data, places, gone }) => ({ data, places, gone }))
  if (!isDeepStrictEqual(is, should)) return `wanted ${JSON.stringify(should)}\ngot    ${JSON.stringify(is)}`
  if (isInParts) return undefined
  known.errors ??= got.errors
  return isDeepStrictEqual(got.errors, known.errors) ? undefined : `wanted ${known.errors.join('\n')}`
}

/** One request. */
interface VariesBy {
  readonly operations: readonly Operation[]
  readonly user: string
  readonly way: Way
}

function callersOf({ queries, mutation, suffix }: Case, { asking, isChange }: Step): readonly VariesBy[] {
  const [first] = queries as readonly [Operation]
  return (isChange ? asking.slice(0, 1) : asking).map(({ which, user: number, how }): VariesBy => {
    const user = `u${number}${suffix}`
    if (isChange) return { operations: [mutation], user, way: 'whole' }
    const operation = queries[which % queries.length] ?? first
    return { operations: how === 3 ? [operation, first] : [operation], user, way: wayOf(operation, how) }
  })
}

/** Asks one server, and holds what it answers against what there is. */
async function checkServer(
  name: string,
  server: Server,
  drawn: Case,
  errors: Map<string, { errors?: readonly string[] }>,
): Promise<void> {
  begin(drawn.given)
  const held = holding(drawn.given)
  for (const [at, step] of drawn.steps.entries()) {
    const since = made.length
    const variesBy = callersOf(drawn, step)
    const asking = variesBy.map(({ operations, user, way }) =>
      server.ask(operations.map(way === 'live' ? asLive : asAsked), user, way),
    )
    const texts = await inTurns(Promise.all(asking))
    const calls = made.slice(since)
    // With the same failures errors are the same.
    const failed = calls.map((call) => JSON.stringify(call)).toSorted()
    for (const [index, text] of texts.entries()) {
      const { operations, user, way } = variesBy[index] as VariesBy
      const answers = text.startsWith('[') ? (JSON.parse(text) as Result[]) : [whole(text)]
      const isInParts = /^\r?\n?--/.test(text)
      if (isInParts) seen.inParts++
      if (way === 'live' && text.includes('"liveQuery"')) seen.live++
      for (const [place, operation] of operations.entries()) {
        const { result, isUnclear } = await world.truth(operation, held, user, made, since)
        seen.answers++
        if (isUnclear) {
          seen.unclear++
          continue
        }
        const key = `${at} ${index} ${place} ${failed.join()}`
        const known = errors.get(key) ?? {}
        errors.set(key, known)
        const wrong = wrongIn(answers[place] as Result, result as Result, isInParts, known)
        if (wrong === undefined) continue
        const { query, variables } = operation
        const list = calls.map(({ name: call, keys, outcome }) => `  ${call} ${keys.join()} ${outcome}`)
        const where = `${name}, step ${at}, request ${index}, ${way}`
        expect.fail([where, query, JSON.stringify(variables), ...list, text, wrong].join('\n'))
      }
    }
  }
}

let cases = 0

describe('answers', () => {
  it('are what there is', { timeout: 240_000 }, async () => {
    onTestFinished(ignoreForgottenErrors())
    const { schema, servers } = world
    await fc.assert(
      fc.asyncProperty(
        situation,
        fc.array(drawnDocument, { minLength: 1, maxLength: 2 }),
        drawnDocument,
        fc.array(step, { minLength: 1, maxLength: 3 }),
        fc.record({ yes: fc.boolean(), no: fc.boolean(), maybe: fc.boolean() }),
        async (given, documents, change, steps, flags) => {
          const queries = documents.map((drawn) => writeOperation(schema, drawn, 'query', flags))
          const mutation = writeOperation(schema, { ...change, isDeferred: false }, 'mutation', flags)
          for (const { query } of [...queries, mutation]) fc.pre(validate(schema, parse(query)).length === 0)
          const drawn: Case = { given, queries, mutation, steps, suffix: `.${cases++}` }
          const errors = new Map<string, { errors?: readonly string[] }>()
          for (const [name, server] of servers) await checkServer(name, server, drawn, errors)
        },
      ),
      {
        numRuns: Number(process.env['PROPERTY_RUNS'] ?? 400),
        seed: Number(process.env['PROPERTY_SEED'] ?? 20261127),
      },
    )
    // A property of plans that are given up, or of answers that nobody can tell, would show nothing.
    expect(outcomes.planned).toBeGreaterThan(cases)
    expect(outcomes['fell-back']).toBeGreaterThan(cases / 2)
    expect(seen.inParts).toBeGreaterThan(cases / 5)
    expect(seen.live).toBeGreaterThan(cases / 2)
    expect(seen.unclear).toBeLessThan(seen.answers / 10)
  })
})
