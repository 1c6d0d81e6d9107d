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

it('objects of a large answer wait for few promises, the last ones the shortest', async () => {
  const { turns } = count({})
  const distinct = [...new Set(turns)]
  expect(turns.length).toBeGreaterThan(OBJECTS / 2)
  expect(distinct.length).toBeLessThan(OBJECTS / 50)
  const order: number[] = []
  await Promise.all(distinct.map(async (turn, index) => (await turn) && order.push(index)))
  expect(order).toEqual(distinct.map((_, index) => index).toReversed())
})

it.each([
  [1, 100],
  [20, 50],
  [100, 10],
  [200, 10],
])(
  'a hundred go on in a turn at first, and where each brings %i more, %i from then on',
  async (brings, most) => {
    const context = {}
    beginAnswer(context, {})
    const answerTurns = turnsOf()
    const [first, further] = [new Map<Promise<true>, number>(), new Map<Promise<true>, number>()]
    const grow = async (count: number, groups: Map<Promise<true>, number>): Promise<void> => {
      const turns = Array.from({ length: count }, () => answerTurns.count(context, info, type))
      const waiting = turns.filter((turn) => turn !== undefined)
      for (const turn of waiting) groups.set(turn, (groups.get(turn) ?? 0) + 1)
      await Promise.all(
        waiting.map(async (turn) => (await turn) && groups === first && grow(brings, further)),
      )
    }
    await grow(3_000, first)
    expect(new Set(first.values())).toEqual(new Set([100]))
    // Those that came before anybody knew, and one that has what was left over, are others.
    const usual = [...further.values()].filter((size) => size === most)
    expect(usual.length / further.size).toBeGreaterThan(0.8)
  },
)

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
