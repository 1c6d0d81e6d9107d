import { beginAnswer } from '@vinyasa/yoga-internals'
import type { GraphQLResolveInfo } from 'graphql'
import { expect, it } from 'vitest'
import { createAnswerTurns } from '../src/answer/answer-turns.ts'

const info = { operation: { operation: 'query' } } as GraphQLResolveInfo
const OBJECTS = 50_000

/** What so many objects of an answer wait for. */
function count(context: object, limit = 0): { readonly turns: readonly Promise<true>[] } {
  const limits = { maxAnswerObjects: limit }
  beginAnswer(context, limits)
  const answerTurns = createAnswerTurns(() => limits)
  const all = Array.from({ length: OBJECTS }, () => answerTurns.count(context, info))
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
