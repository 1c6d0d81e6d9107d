import { answerSizeOf, beginAnswer } from '@vinyasa/yoga-internals'
import { GraphQLObjectType, type GraphQLResolveInfo, Kind } from 'graphql'
import { expect, it } from 'vitest'
import { type AnswerTurns, createAnswerTurns } from '../src/answer/answer-turns.ts'
import { createHeldAnswers } from '../src/answer/held-answers.ts'

const type = new GraphQLObjectType({ name: 'Thing', fields: {} })
const turnsOf = (limits = {}): AnswerTurns =>
  createAnswerTurns(
    () => limits,
    createHeldAnswers(() => {}),
  )

/** Of a field below which so many are selected. */
function infoOf(fields: number): GraphQLResolveInfo {
  const selections = Array.from({ length: fields }, (_, index) => ({
    kind: Kind.FIELD,
    name: { kind: Kind.NAME, value: `f${index}` },
  }))
  const fieldNodes = [{ selectionSet: { kind: Kind.SELECTION_SET, selections } }]
  return { operation: { operation: 'query' }, fieldNodes, fragments: {} } as unknown as GraphQLResolveInfo
}
const info = infoOf(1)
const OBJECTS = 50_000

/** What so many objects of an answer wait for. */
function count(context: object, limit = 0): { readonly turns: readonly Promise<true>[] } {
  const limits = { maxAnswerObjects: limit }
  beginAnswer(context, limits)
  const answerTurns = turnsOf(limits)
  const all = Array.from({ length: OBJECTS }, () => answerTurns.count(context, info, type))
  return { turns: all.filter((turn) => turn !== undefined) }
}

it('objects of a large response share promises, and the last ones continue first', async () => {
  const { turns } = count({})
  const distinct = [...new Set(turns)]
  expect(turns.length).toBeGreaterThan(OBJECTS / 2)
  expect(distinct.length).toBeLessThan(OBJECTS / 3)
  const order: number[] = []
  await Promise.all(distinct.map(async (turn, index) => (await turn) && order.push(index)))
  expect(order).toEqual(distinct.map((_, index) => index).toReversed())
})

/** Counts objects of a field whose work takes so long each. Returns the sizes of the groups that continued together. */
async function groupsOf(objects: number, workMs: number): Promise<number[]> {
  const context = {}
  beginAnswer(context, {})
  const answerTurns = turnsOf()
  const groups = new Map<Promise<true>, number>()
  for (let left = objects; left > 0; left -= 500) {
    const turns = Array.from({ length: 500 }, () => answerTurns.count(context, info, type))
    const waiting = turns.filter((turn) => turn !== undefined)
    for (const turn of waiting) groups.set(turn, (groups.get(turn) ?? 0) + 1)
    await Promise.all(waiting.map(async (turn) => (await turn) && work(workMs)))
  }
  return [...groups.values()]
}

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Works until this process has used so much processor time, whatever other processes do. */
function burn(ms: number): void {
  const before = process.cpuUsage()
  const used = (): number => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
  while (used() < ms);
}

it('objects that take little time continue in large groups', async () => {
  expect(Math.max(...(await groupsOf(10_000, 0)))).toBeGreaterThanOrEqual(32)
})

it('objects that take long continue one by one', async () => {
  const groups = await groupsOf(3_000, 2)
  expect(groups.at(-1)).toBe(1)
  expect(groups.filter((members) => members === 1).length / groups.length).toBeGreaterThan(0.5)
})

it('slow objects wait for a turn, however few they are', async () => {
  const context = {}
  beginAnswer(context, {})
  const answerTurns = turnsOf()
  const count = (): unknown => answerTurns.count(context, info, type)
  for (let objects = 0; objects < 40; objects++) expect(count()).toBeUndefined()
  burn(60)
  const turn = count()
  expect(turn).toBeInstanceOf(Promise)
  await turn
})

it('all objects that wait fail when the answer is too large', async () => {
  const { turns } = count({}, OBJECTS - 1)
  const settled = await Promise.allSettled(turns)
  expect(settled.filter(({ status }) => status === 'fulfilled')).toEqual([])
  expect(settled[0]).toMatchObject({ reason: { extensions: { code: 'RESPONSE_TOO_LARGE' } } })
})

it('all objects that wait fail when the client has left', async () => {
  const leaving = new AbortController()
  const { turns } = count({ request: { signal: leaving.signal } })
  leaving.abort()
  const settled = await Promise.allSettled(turns)
  expect(settled.filter(({ status }) => status === 'fulfilled')).toEqual([])
  expect(settled[0]).toMatchObject({ reason: { extensions: { code: 'CLIENT_CLOSED_REQUEST' } } })
})

it.each([
  [1, 335_544],
  [10, 121_122],
  [100, 18_035],
])('objects of %i fields, each held until the answer is whole, may be %i', async (fields, most) => {
  const context = {}
  beginAnswer(context, {})
  const answerTurns = turnsOf()
  const wide = infoOf(fields)
  const turns = new Set<Promise<true>>()
  for (let object = 0; object < most; object++)
    turns.add(answerTurns.count(context, wide, type) as Promise<true>)
  expect(answerSizeOf(context)?.refusal).toBeUndefined()
  await expect(answerTurns.count(context, wide, type)).rejects.toMatchObject({ extensions: { limit: most } })
  await Promise.allSettled(turns)
})
