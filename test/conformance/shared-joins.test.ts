import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createDisposables, grpcError, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Ask,
  type Data,
  document,
  lateWorld,
  PROTO,
  type Row,
  serveJoined,
  sharingDocument,
  sound,
  variables,
  world,
} from './joined-world.ts'

// Objects of one kind of source with fields that the other one joins to them, and so on below those: clients get what
// ordinary execution gives, by the same calls.

let data: Data
const calls: string[] = []

const cleanup = createDisposables(afterAll)
const urls = { grpc: '', rest: '' }

async function called(name: string, asked: string): Promise<void> {
  calls.push(`${name} ${asked}`)
  await new Promise(
    (resolve) => void setTimeout(resolve, data.delays[`${name} ${asked}`] ?? data.delays[name] ?? 0),
  )
}

beforeAll(async () => {
  const answer = async (name: string, asked: string, users: readonly Row[]): Promise<object> => {
    await called(name, asked)
    if (data.failing.has(name)) throw grpcError(5, `no ${asked}`)
    return { users }
  }
  const grpc = cleanup.use(
    await startGrpcBackend({
      protos: PROTO,
      handlers: {
        'p.Users/GetUser': async ({ id }) => {
          await answer('GetUser', String(id), [])
          return data.users.find((user) => user['id'] === id) ?? {}
        },
        'p.Users/ListUsers': ({ id }) => answer('ListUsers', String(id), data.users),
        'p.Users/BatchUsers': ({ ids }) => {
          const asked = ids as string[]
          const found = data.users.filter(
            ({ id, team }) => asked.includes(String(id)) || asked.includes(String(team)),
          )
          return answer('BatchUsers', asked.toSorted().join(), found)
        },
      },
    }),
  )
  const rest = cleanup.use(
    await startRestBackend(async ({ url }) => {
      const name = url.pathname.slice(1)
      await called(name, [...url.searchParams].map(String).toSorted().join())
      return data.failing.has(name) ? { status: 500, json: {} } : { json: data.things }
    }),
  )
  urls.grpc = grpc.address
  urls.rest = rest.url
})

const serve = (
  plans: boolean,
  tell: (event: PlanEvent) => void,
  maxRequestsPerOperation?: number,
): Promise<Ask> =>
  serveJoined({
    plans,
    tell,
    maxRequestsPerOperation,
    cleanup,
    grpc: { endpoint: urls.grpc },
    restUrl: urls.rest,
  })

/** Why a plan is given up where something has failed. */
const FAILED = 'a call to a backend failed, was cancelled or could not be made'

const dataOf = (answer: string): string => answer.slice(answer.lastIndexOf('"data":'))

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20))

/** A join at two places, or below several calls, is asked for at once or not, as time has it. */
function isTimed(query: string): boolean {
  const joins: readonly string[] =
    query.match(/\b(owns|part|ranked|owner|team|near|needed|mates|peers)\b/g) ?? []
  return joins.includes('peers') || new Set(joins).size < joins.length
}

describe('fields that one kind of source joins to objects of the other', () => {
  it('are planned with them, both ways and below each other', async () => {
    const events: string[] = []
    const ask = await serve(true, ({ outcome }) => void events.push(outcome))
    data = {
      users: [{ id: 'a', name: 'Ada', partId: 't' }],
      things: [{ id: 't', name: 'Lamp', ownerId: 'a' }],
      failing: new Set(),
      delays: {},
    }
    calls.length = 0
    expect(await ask('{ users(id: "a") { users { owns { name owner { name part { id } } } } } }', {})).toBe(
      '200 {"data":{"users":{"users":[{"owns":[{"name":"Lamp","owner":{"name":"Ada","part":{"id":"t"}}}]}]}}}',
    )
    expect(await ask('{ things { owner { name part { name } } } }', {})).toBe(
      '200 {"data":{"things":[{"owner":{"name":"Ada","part":{"name":"Lamp"}}}]}}',
    )
    expect(events.filter((event) => event !== 'unplanned')).toEqual(['planned', 'planned'])
    expect(calls).toEqual([
      'ListUsers a',
      'owned ids,a',
      'BatchUsers a',
      'parts ids,t',
      'things ',
      'BatchUsers a',
      'parts ids,t',
    ])
  })

  describe.each([
    [
      'gRPC, REST and below',
      '{ thing { name } user(id: "a") { part { name } owns { name team { name } } } }',
    ],
    ['REST, gRPC and below', '{ user(id: "b") { name } things { name owner { name part { name } } } }'],
  ])('%s', (_, query) => {
    it.each([
      ['GetUser', ['things', 'thing']],
      ['things', ['GetUser']],
      ['thing', ['GetUser']],
      ['BatchUsers', []],
      ['parts', []],
      ['parts', ['owned']],
      ['owned', ['parts']],
    ])('%s fails and %s come later: no call is made twice', async (failing, late) => {
      const events: string[] = []
      const ordinary = await serve(false, () => {})
      const planned = await serve(true, ({ outcome }) => void events.push(outcome))
      data = {
        ...sound,
        failing: new Set([failing]),
        delays: Object.fromEntries(late.map((name) => [name, 15])),
      }
      calls.length = 0
      const wanted = await ordinary(query, {})
      await settle()
      const wantedCalls = calls.splice(0).sort()
      expect(await planned(query, {})).toBe(wanted)
      await settle()
      expect(calls.splice(0).sort()).toEqual(wantedCalls)
      const isConcerned = wanted.includes('errors')
      expect(events.filter((event) => event !== 'unplanned')).toEqual(
        isConcerned ? ['planned', 'fell-back'] : ['planned'],
      )
    })
  })

  it('the calls of an operation are counted together, and those of the next one anew', async () => {
    data = sound
    for (const plans of [false, true]) {
      const ask = await serve(plans, () => {}, 2)
      for (let time = 0; time < 3; time++)
        expect(await ask('{ thing { name } user(id: "a") { owns { name } } }', {})).toMatch(/^200 {"data"/)
      expect(await ask('{ thing { name } user(id: "a") { owns { name } part { name } } }', {})).toContain(
        'exceeds the limit of 2 calls',
      )
    }
  })

  it('what was read for one plan is not kept for the next', async () => {
    const ask = await serve(true, () => {})
    data = { ...sound, users: [{ id: 'a', name: 'x'.repeat(400_000) }] }
    /** Freed memory is given back a while after its collection. */
    const held = async (): Promise<number> => {
      const readings: number[] = []
      for (let time = 0; time < 8; time++) {
        collectGarbage()
        await settle()
        readings.push(process.memoryUsage().arrayBuffers)
      }
      return Math.min(...readings)
    }
    const askFrom = async (first: number, last: number): Promise<void> => {
      for (let round = first; round <= last; round++)
        expect((await ask(`{ things { owner { n${round}: name } } }`, {})).length).toBeGreaterThan(400_000)
    }
    await askFrom(1, 20)
    const before = await held()
    await askFrom(21, 60)
    expect((await held()) - before).toBeLessThan(8_000_000)
  })

  it('who asks for a key that is on its way waits for it', async () => {
    const users = ['x', 'y'].map((team) => ({ id: team, name: team, team }))
    data = {
      users,
      things: ['x', 'y'].map((ownerId) => ({ id: `of ${ownerId}`, name: 'z', ownerId })),
      failing: new Set(),
      delays: { 'BatchUsers y': 5, 'BatchUsers z': 30 },
    }
    const query = '{ users(id: "a") { users { peers { owns { name team { name } } } } } }'
    const events: string[] = []
    data = { ...data, users: [...users, { id: 'z', name: 'Zoe', team: 'z' }] }
    const planned = await serve(true, ({ outcome }) => void events.push(outcome))
    const answer = await planned(query, {})
    expect(answer).toBe(await (await serve(false, () => {}))(query, {}))
    expect(answer.split('Zoe')).toHaveLength(3)
    expect(events.filter((event) => event !== 'unplanned')).toEqual(['planned'])
  })

  it.each([
    ['of their own', document, world],
    ['that they share', sharingDocument, lateWorld],
  ])(
    'with selections %s are answered by plans as by ordinary execution, with the same calls',
    { timeout: 240_000 },
    async (_, documents, worlds) => {
      const events: PlanEvent[] = []
      const seen = { planned: 0, unplanned: 0, 'fell-back': 0 }
      const ordinary = await serve(false, () => {})
      const planned = await serve(true, (event) => void events.push(event))
      await fc.assert(
        fc.asyncProperty(documents, worlds, variables, async (query, given, values) => {
          data = given
          calls.length = 0
          const wanted = await ordinary(query, values)
          const wantedCalls = calls.splice(0).sort()
          // Where a value that may not be null is wrong, ordinary execution leaves out calls and keys that it has not come
          // to, and does not wait for those that it has, nor for what they fail with.
          const isCut = /non-null|\\"(id|team|mates|peers|needed)\\"\]/.test(wanted)
          if (isCut) await settle()
          calls.length = 0
          const got = await planned(query, values)
          if (isCut) await settle()
          const gotCalls = calls.splice(0).sort()
          expect(isCut ? dataOf(got) : got).toBe(isCut ? dataOf(wanted) : wanted)
          const isShared = documents === sharingDocument
          expect(gotCalls).toEqual(isCut || isShared || isTimed(query) ? gotCalls : wantedCalls)
          // Where nothing has failed, values alone are a reason.
          const told = events.splice(0)
          const reasons = wanted.includes('"errors"') ? [] : told.map(({ reason }) => reason)
          expect(reasons).not.toContain(FAILED)
          for (const { outcome } of told) seen[outcome]++
        }),
        { numRuns: 600, seed: 20261121 },
      )
      expect(seen.planned).toBeGreaterThan(100)
      expect(seen['fell-back']).toBeGreaterThan(50)
    },
  )
})
