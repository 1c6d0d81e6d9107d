import { isDeepStrictEqual } from 'node:util'
import type { Drawn } from './feature.ts'
import type { Reference } from './reference.ts'
import type { Answer, Asked, Run, Sent } from './run.ts'
import { subjectOf, type User } from './users.ts'

/** What counts of an answer: its data, and where which errors are. */
export function judged({ data = null, errors = [] }: Answer): unknown {
  const told = errors.map(
    ({ path, extensions }) => `${JSON.stringify(path ?? [])} ${String(extensions?.['code'])}`,
  )
  return JSON.parse(JSON.stringify({ data, errors: told.sort() }))
}

export const isSame = (one: Answer, other: Answer): boolean => isDeepStrictEqual(judged(one), judged(other))

/** The marks in an answer that are not the user's own. */
export function foreignMarks(answer: Answer, user: User, drawn: readonly Drawn[]): readonly string[] {
  const derived = drawn.map(({ value }) => value.derives?.(user))
  const own: Record<string, string | undefined> = Object.assign({}, user.headers, ...derived)
  const marks = JSON.stringify(answer.data ?? null).matchAll(/<([a-z-]+)=([^>]*)>/g)
  return [...marks].flatMap(([mark, name = '', value]) => {
    const held = own[name] ?? ''
    return (name === 'authorization' ? subjectOf(held) : held) === value ? [] : [mark]
  })
}

/** The codes with which features refuse the operation. */
export function refusalsOf(asked: Asked, sent: Sent, drawn: readonly Drawn[]): readonly string[] {
  return drawn.flatMap(({ value, piece }) => value.refuses?.(asked, sent, piece) ?? [])
}

export type Verdict = 'right' | 'old' | 'leak' | 'wrong' | 'not refused' | 'refused'

/** Whether an answer is what plain graphql-js says, of a state that may be seen. */
export function verdictOf(
  asked: Asked,
  sent: Sent,
  { drawn, reference, states }: Pick<Run, 'drawn' | 'reference' | 'states'>,
): Verdict {
  const { operation, answer, from, to } = asked
  const codes = refusalsOf(asked, sent, drawn)
  if (codes.length > 0) {
    const got = answer.errors?.[0]?.extensions?.['code']
    return typeof got === 'string' && codes.includes(got) ? 'right' : 'not refused'
  }
  const expected = (state: number): Answer =>
    expectedOf(reference, asked, sent.user, states[state] as Run['states'][number])
  const shows = (state: number): boolean => isSame(answer, expected(state))
  for (let state = to; state >= from; state--) if (shows(state)) return 'right'
  // What was read beside a mutation may show one field of before and another of after.
  const seen = Array.from({ length: to - from + 1 }, (_, index) => judged(expected(from + index)))
  if (isMixOf(judged(answer), seen)) return 'right'
  if (foreignMarks(answer, sent.user, drawn).length > 0) return 'leak'
  for (let state = from - 1; state >= 0; state--) if (shows(state)) return 'old'
  return answer.data === undefined && operation.name !== 'Find' ? 'refused' : 'wrong'
}

/** Whether each leaf is that of one of the others. */
function isMixOf(value: unknown, others: readonly unknown[]): boolean {
  if (others.some((other) => isDeepStrictEqual(value, other))) return true
  if (typeof value !== 'object' || value === null) return false
  const names = Object.keys(value)
  return (
    others.every((other) => isDeepStrictEqual(Object.keys(other ?? {}), names)) &&
    names.every((name) => {
      const [mine, ...its] = [value, ...others].map((one) => (one as Record<string, unknown>)[name])
      return isMixOf(mine, its)
    })
  )
}

const expectedOf = (
  reference: Reference,
  { operation }: Asked,
  user: User,
  state: Run['states'][number],
): Answer => reference.answer(operation, user, state)

/** What the cache did with each operation of a request; none: there is no cache. */
export function outcomesOf({ answerHeaders }: Sent): readonly string[] {
  const said = answerHeaders.get('x-cache')
  return said === null ? [] : said.split(',').map((outcome) => outcome.trim())
}

/** Whether the answer to the operation at the index came out of the cache. */
export function isFromCache(sent: Sent, index: number): boolean {
  return ['HIT', 'STALE', 'COALESCED'].includes(outcomesOf(sent)[index] ?? '')
}
