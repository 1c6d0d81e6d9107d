import { setImmediate } from 'node:timers/promises'
import { GrpcCallError } from '@vinyasa/grpc-transport'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createDisposables, parseProtos } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Ask, type Data, document, PROTO, serveJoined, sound, variables, world } from './joined-world.ts'

// A joined field that an operation selects at several places makes the calls that DataLoader would make for all of them
// together. Which places ask at once is a matter of time, so time is made here: calls are answered in turns, all that are
// due at once, when nobody asks for anything any more.

interface Due {
  readonly at: number
  readonly answer: () => void
}

let data: Data
let now = 0
let due: Due[] = []
/** With the turn in which each was made. */
const calls: string[] = []

async function called(name: string, asked: string): Promise<void> {
  calls.push(`${now} ${name} ${asked}`)
  const at = now + 1 + (data.delays[`${name} ${asked}`] ?? data.delays[name] ?? 0)
  await new Promise<void>((answer) => void due.push({ at, answer }))
}

/** Lets time go by until a promise is settled, and all calls are answered. */
async function inTurns<T>(pending: Promise<T>): Promise<T> {
  let isSettled = false
  void pending.then(
    () => (isSettled = true),
    () => (isSettled = true),
  )
  for (now = 0; ;) {
    for (let quiet = 0, seen = -1; quiet < 8; quiet++) {
      if (seen !== calls.length) quiet = 0
      seen = calls.length
      await setImmediate()
    }
    if (due.length === 0 && isSettled) return pending
    now = Math.min(...due.map(({ at }) => at))
    const ready = due.filter(({ at }) => at <= now)
    due = due.filter(({ at }) => at > now)
    for (const { answer } of ready) answer()
  }
}

// Files may share their modules: this one wants its own, and leaves none of them behind.
vi.hoisted(() => void vi.resetModules())
afterAll(() => void vi.resetModules())

vi.mock('../../packages/rest-connector/src/http/client/undici-client.ts', () => ({
  createTransport: () => ({
    async send({ path }: { readonly path: string }) {
      const { pathname, searchParams } = new URL(path, 'http://rest')
      const name = pathname.slice(1)
      await called(name, [...searchParams].map(String).toSorted().join())
      const fails = data.failing.has(name)
      return {
        status: fails ? 500 : 200,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(fails ? {} : data.things)),
      }
    },
    close: () => Promise.resolve(),
  }),
}))

const cleanup = createDisposables(afterAll)
const events: string[] = []
let ordinary: Ask
let planned: Ask

beforeAll(async () => {
  const root = await parseProtos(PROTO)
  const [Id, Ids, User, UserList] = ['Id', 'Ids', 'User', 'UserList'].map((name) =>
    root.lookupType(`p.${name}`),
  ) as [ReturnType<typeof root.lookupType>, ...any[]]
  const bytes = (type: typeof Id, value: object): Uint8Array => type.encode(type.fromObject(value)).finish()

  async function unary({ path }: { readonly path: string }, request: Uint8Array): Promise<Uint8Array> {
    const name = path.slice('/p.Users/'.length)
    const { id, ids } = (name === 'BatchUsers' ? Ids : Id).decode(request) as { id: string; ids: string[] }
    await called(name, ids ? ids.toSorted().join() : id)
    if (data.failing.has(name)) throw new GrpcCallError('NOT_FOUND', `no ${id}`)
    if (name === 'GetUser') return bytes(User, data.users.find((user) => user['id'] === id) ?? {})
    const isAsked = ({ id: own, team }: Data['users'][number]): boolean =>
      ids.includes(String(own)) || ids.includes(String(team))
    return bytes(UserList, { users: ids ? data.users.filter(isAsked) : data.users })
  }
  const transport = () => ({ unary, stream: () => expect.unreachable('nothing streams'), close() {} })
  const serve = (plans: boolean, tell: (event: PlanEvent) => void): Promise<Ask> =>
    serveJoined({
      plans,
      tell,
      cleanup,
      grpc: { endpoint: 'localhost:1', transport },
      restUrl: 'http://rest',
    })
  ordinary = await serve(false, () => {})
  planned = await serve(true, ({ outcome }) => void events.push(outcome))
})

/** The same operation both ways. */
async function askBoth(query: string, values: object) {
  calls.length = 0
  const wanted = await inTurns(ordinary(query, values))
  const wantedCalls = calls.splice(0)
  const got = await inTurns(planned(query, values))
  return { wanted, wantedCalls, got, gotCalls: calls.splice(0) }
}

const JOINS = /\b(owns|part|ranked|owner|team|needed|mates|peers)\b/g

function isAtManyPlaces(query: string): boolean {
  const joins: readonly string[] = query.match(JOINS) ?? []
  return new Set(joins).size < joins.length
}

const dataOf = (answer: string): string => answer.slice(answer.lastIndexOf('"data":'))

describe('a field that is joined at several places', () => {
  it.each([
    ['of one reply', '{ things { owner { id } parts { owner { name } } } }', 1],
    ['by two names', '{ things { owner { id } again: owner { name } } }', 1],
    ['of two replies', '{ a: user(id: "a") { owns { id } } b: user(id: "b") { owns { name } } }', 1],
    ['of two kinds of sources', '{ user(id: "a") { owns { id } mates { owns { name } } } }', 2],
    ['one below the other', '{ things { owner { id owns { owner { name } } } } }', 1],
    ['with other arguments', '{ user(id: "a") { owns { id } few: owns(limit: 2) { id } } }', 2],
  ])('%s is planned', async (_, query, count) => {
    const part = { id: 'p', name: 'x', ownerId: 'b' }
    data = { ...sound, things: [{ id: 't', name: 'x', ownerId: 'a', parts: [part] }] }
    events.length = 0
    const { wanted, wantedCalls, got, gotCalls } = await askBoth(query, {})
    expect(got).toBe(wanted)
    expect(got).toMatch(/^200 {"data"/)
    expect(events).toContain('planned')
    expect(gotCalls.toSorted()).toEqual(wantedCalls.toSorted())
    const name = query.includes('owns') && !query.includes('owner') ? 'owned' : 'BatchUsers'
    expect(gotCalls.filter((call) => call.includes(name))).toHaveLength(count)
  })

  it('makes the calls of ordinary execution, in the same turns', { timeout: 240_000 }, async () => {
    const seen = { planned: 0, compared: 0 }
    await fc.assert(
      fc.asyncProperty(document, world, variables, async (query, given, values) => {
        data = given
        events.length = 0
        const { wanted, wantedCalls, got, gotCalls } = await askBoth(query, values)
        const isCut = /non-null|\\"(id|team|mates|peers|needed)\\"\]/.test(wanted)
        expect(isCut ? dataOf(got) : got).toBe(isCut ? dataOf(wanted) : wanted)
        const isPlanned = events.includes('planned')
        if (isCut || !isPlanned) return
        if (isAtManyPlaces(query)) seen.planned++
        // DataLoader forgets the keys of a call that failed, and asks again for them; a plan does not.
        const hasErrors = wanted.includes('"errors"')
        expect(gotCalls.length).toBeLessThanOrEqual(wantedCalls.length)
        expect(gotCalls.toSorted()).toEqual((hasErrors ? gotCalls : wantedCalls).toSorted())
        if (!hasErrors && isAtManyPlaces(query)) seen.compared++
      }),
      { numRuns: 1_000, seed: 20261123 },
    )
    // A property of operations that have each join once would show nothing.
    expect(seen.planned).toBeGreaterThan(100)
    expect(seen.compared).toBeGreaterThan(60)
  })
})
