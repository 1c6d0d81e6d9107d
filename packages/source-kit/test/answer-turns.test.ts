import { answerSizeOf, beginAnswer } from '@vinyasa/core/documents'
import { GraphQLInt, GraphQLList, GraphQLObjectType, type GraphQLResolveInfo, Kind } from 'graphql'
import { expect, it, onTestFinished, vi } from 'vitest'
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

it('objects of many answers wait for turns once one tick has made more of them than one answer may', async () => {
  const answerTurns = turnsOf()
  const begin = (): (() => Promise<true> | undefined) => {
    const context = {}
    beginAnswer(context, {})
    return () => answerTurns.count(context, info, type)
  }
  const answers = [begin(), begin()]
  const turns = answers.flatMap((next) => Array.from({ length: 1_500 }, next))
  burn(60)
  turns.push(answers[0]?.())
  expect(turns.at(-1)).toBeInstanceOf(Promise)
  turns.push(begin()())
  expect(turns.at(-1)).toBeInstanceOf(Promise)
  await Promise.all(turns)
  expect(begin()()).toBeUndefined()
})

it('reads the clock where the processor time is not known', async () => {
  const unknown = vi.spyOn(process, 'cpuUsage').mockImplementation(() => {
    throw new Error('The process.cpuUsage method is not implemented')
  })
  onTestFinished(() => unknown.mockRestore())
  const answerTurns = turnsOf()
  const context = {}
  beginAnswer(context, {})
  const next = (): Promise<true> | undefined => answerTurns.count(context, info, type)
  expect(Array.from({ length: 40 }, next)).not.toContainEqual(expect.any(Promise))
  work(60)
  expect(next()).toBeInstanceOf(Promise)
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

const numbers = {
  ...info,
  returnType: new GraphQLList(new GraphQLList(GraphQLInt)),
} as unknown as GraphQLResolveInfo
const matrix = (rows: number, columns: number): number[][] =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, () => 1))

it('the lists of a long list of lists wait for their turns, those of a short one do not', async () => {
  const context = {}
  beginAnswer(context, {})
  const answerTurns = turnsOf()
  expect(answerTurns.pace(context, numbers, matrix(10, 10))).toEqual(matrix(10, 10))
  const rows = answerTurns.pace(context, numbers, matrix(100, 1_000)) as unknown[]
  expect(rows.filter((row) => row instanceof Promise).length).toBeGreaterThan(80)
  expect(await Promise.all(rows)).toEqual(matrix(100, 1_000))
})

it('numbers of lists count as bytes that are held', async () => {
  const context = {}
  beginAnswer(context, {})
  await expect(turnsOf().pace(context, numbers, matrix(1_100, 1_000))).rejects.toThrow('67108864 bytes')
  expect(answerSizeOf(context)?.refusal?.extensions).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
})

it('the resolver of a list waits while other answers hold much', async () => {
  const answerTurns = turnsOf()
  const begin = (): object => {
    const context = {}
    beginAnswer(context, {})
    return context
  }
  expect(answerTurns.beforeList(begin(), numbers)).toBeUndefined()
  const others = [begin(), begin()]
  const rows = others.flatMap(
    (context) => answerTurns.pace(context, numbers, matrix(400, 1_000)) as unknown[],
  )
  // In another tick than the work of the first ones.
  await new Promise((resolve) => setImmediate(resolve))
  const held = answerTurns.beforeList(begin(), numbers)
  expect(held).toBeInstanceOf(Promise)
  for (const context of others) answerSizeOf(context)?.done()
  await Promise.all([...rows, held])
})

it('the resolver of a list waits when other answers have kept the tick busy', async () => {
  const answerTurns = turnsOf()
  const [first, second] = [{}, {}]
  for (const context of [first, second]) beginAnswer(context, {})
  const rows = answerTurns.pace(first, numbers, matrix(20, 1_000)) as unknown[]
  expect(answerTurns.beforeList(second, numbers)).toBeUndefined()
  burn(60)
  expect(answerTurns.beforeList(first, numbers)).toBeUndefined()
  const turn = answerTurns.beforeList(second, numbers)
  expect(turn).toBeInstanceOf(Promise)
  await Promise.all([...rows, turn])
})
