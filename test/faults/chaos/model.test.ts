import { expect, it } from 'vitest'
import { type Answer, Model, type Observation } from './model.ts'

const KEY = 'user:1'
const answer = (token: string, answeredAt: number, ok = true): Answer => ({
  gateway: 1,
  key: KEY,
  token,
  answeredAt,
  ok,
})
const read = (value: string, startedAt: number, gateway = 1): Observation => ({
  gateway,
  key: KEY,
  value,
  startedAt,
  endedAt: startedAt + 5,
  how: 'read',
})

function modelOf(...commits: readonly (readonly [string, number])[]): Model {
  const model = new Model()
  model.seed(KEY, 'seed')
  for (const [token, at] of commits) model.commit({ key: KEY, token, value: token, at })
  return model
}

it.each<[string, readonly Answer[], readonly Observation[], string | undefined]>([
  ['the new value after its answer', [answer('a', 1_000)], [read('a', 1_001)], undefined],
  ['the old value after it', [answer('a', 1_000)], [read('seed', 1_001)], 'stale: user:1 read as seed 1 ms'],
  ['the old value before it', [answer('a', 1_000)], [read('seed', 999)], undefined],
  ['a newer value', [answer('a', 1_000)], [read('b', 1_001)], undefined],
  ['the old value on the other gateway', [answer('a', 1_000)], [read('seed', 1_001, 2)], undefined],
  ['a value that nobody wrote', [], [read('x', 1)], 'wrong: user:1 read as x'],
  ['an answer for what was never written', [answer('c', 1_000)], [], 'lost: user:1'],
  ['an error for what was written before it', [answer('a', 1_000, false)], [read('seed', 1_001)], 'stale'],
  ['an error for what was never written', [answer('c', 1_000, false)], [read('seed', 1_001)], undefined],
])('%s', (_, answers, reads, violation) => {
  const model = modelOf(['a', 900], ['b', 950])
  for (const each of answers) model.answered(each)
  for (const each of reads) model.observed(each)
  expect(model.judge()).toEqual(new Set())
  expect(model.violations).toHaveLength(violation === undefined ? 0 : 1)
  expect(model.violations.join()).toContain(violation ?? '')
})

it('what is written after the error of its mutation is told apart, and no read is blamed for it', () => {
  const model = modelOf(['a', 2_000])
  model.answered(answer('a', 1_000, false))
  model.observed(read('seed', 3_000))
  expect(model.judge()).toEqual(new Set([KEY]))
  expect(model.violations).toEqual([])
})

it('a read that began before an answer is not blamed when it is judged later', () => {
  const model = modelOf(['a', 900])
  model.answered(answer('a', 1_000))
  model.judge()
  model.observed(read('seed', 999))
  model.judge()
  expect(model.violations).toEqual([])
})

it('answers count for later judgements', () => {
  const model = modelOf(['a', 900])
  model.answered(answer('a', 1_000))
  model.judge()
  model.observed(read('seed', 5_000))
  model.judge()
  expect(model.violations).toEqual([expect.stringContaining('stale')])
})
