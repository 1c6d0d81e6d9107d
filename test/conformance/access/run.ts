import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { createRandom, type Random } from '@vinyasa/test-kit'
import { drawQuery } from './draw-query.ts'
import { expectedAnswer, mayReachRefused, type Expected } from './expected.ts'
import { createSockets, type Sockets } from './sockets.ts'
import { openWorld, type AccessWorld, type User } from './world.ts'

export interface AccessReport {
  readonly cases: number
  /** Answers of which a part was refused. */
  readonly refused: number
  readonly hits: number
  /** Answers over sockets, about half of them of live queries. */
  readonly overSockets: number
  /** Answers that were not as they should be, the first few in words. */
  readonly wrong: readonly string[]
  /** Answers from a cache whose keys hold no token, to those who may have all of them. */
  readonly shared: number
  /** Answers computed anew though somebody with the same rights had been given the same. */
  readonly unshared: number
}

const OPERATIONS_PER_WORLD = 250
const OVER_SOCKET = 'over a socket'

interface Answer {
  readonly answer: Expected
  readonly outcome: string | undefined
}

interface Asked {
  readonly user: User
  readonly query: string
}

class Tally {
  cases = 0
  refused = 0
  hits = 0
  overSockets = 0
  shared = 0
  unshared = 0
  readonly wrong: string[] = []

  note(world: AccessWorld, { user, query }: Asked, found: Answer, answered: Set<string>): void {
    const expected = expectedAnswer(world, user, query)
    const isHit = found.outcome === 'HIT'
    this.cases++
    if (isHit) this.hits++
    if (expected.errors.length > 0) this.refused++
    if (!isDeepStrictEqual(found.answer, expected) && this.wrong.length < 3)
      this.wrong.push(JSON.stringify({ query, user, rules: world.rules, found, expected }))
    // What a socket was answered from is not said.
    if (found.outcome === OVER_SOCKET) this.overSockets++
    if (found.outcome === OVER_SOCKET || world.cache !== 'shared' || mayReachRefused(world, user, query))
      return
    const key = `${query}${query.includes('whoami') ? user.name : ''}`
    if (isHit) this.shared++
    else if (answered.has(key) && found.outcome !== 'COALESCED') this.unshared++
    answered.add(key)
  }
}

/** Asks random gateways random things in the name of several users, and compares with what the rules say. */
export async function runCases(count: number, seed: number): Promise<AccessReport> {
  const tally = new Tally()
  for (let number = 0; tally.cases < count; number++) {
    const world = await openWorld(seed + number)
    try {
      await askWorld(world, createRandom(seed + number, 'cases'), tally)
    } finally {
      await world.close()
    }
  }
  return { ...tally }
}

async function askWorld(world: AccessWorld, random: Random, tally: Tally): Promise<void> {
  const queries = Array.from({ length: 25 }, () => drawQuery(world.schema, random))
  /** By whom and what for: who was answered in full. */
  const answered = new Set<string>()
  const sockets = createSockets(world.url)
  for (let step = 0; step < OPERATIONS_PER_WORLD; step++) {
    const user = random.pick(world.users)
    const length = random.below(8) === 0 ? 2 : 1
    const asked = Array.from({ length }, () => ({ user, query: random.pick(queries) }))
    const answers = await ask(world, sockets, asked, random)
    for (const [index, one] of asked.entries()) tally.note(world, one, answers[index] as Answer, answered)
  }
  await sockets.close()
}

async function ask(
  { url }: AccessWorld,
  sockets: Sockets,
  asked: readonly Asked[],
  random: Random,
): Promise<Answer[]> {
  const [first] = asked
  if (!first) throw new Error('Nothing is asked.')
  if (asked.length === 1 && random.below(4) === 0) {
    const answer = await sockets.ask(first.user, first.query, random)
    return [{ answer: comparable(answer), outcome: OVER_SOCKET }]
  }
  const { headers } = first.user
  const isGet = asked.length === 1 && random.below(3) === 0
  if (random.below(3) > 0) return send(url, headers, isGet, asked.map(toText))
  // As clients do with automatic persisted queries: whoever asked first has said the text for everybody.
  const named = await send(url, headers, isGet, asked.map(toHash))
  const isUnknown = named.some(({ answer }) => answer.errors.includes('PERSISTED_QUERY_NOT_FOUND '))
  if (!isUnknown) return named
  return send(
    url,
    headers,
    false,
    asked.map((one) => ({ ...toText(one), ...toHash(one) })),
  )
}

type Body = Readonly<Record<string, unknown>>

const toText = ({ query }: Asked): Body => ({ query })

function toHash({ query }: Asked): Body {
  const sha256Hash = createHash('sha256').update(query).digest('hex')
  return { extensions: { persistedQuery: { version: 1, sha256Hash } } }
}

async function send(
  url: string,
  headers: User['headers'],
  isGet: boolean,
  bodies: readonly Body[],
): Promise<Answer[]> {
  const texts = Object.entries(bodies[0] ?? {}).map(([key, value]): [string, string] => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const response = isGet
    ? await fetch(`${url}?${new URLSearchParams(texts)}`, { headers })
    : await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(bodies.length === 1 ? bodies[0] : bodies),
      })
  const outcomes = response.headers.get('x-cache')?.split(', ') ?? []
  return [(await response.json()) as any]
    .flat()
    .map((answer, index) => ({ answer: comparable(answer), outcome: outcomes[index] }))
}

function comparable({ data, errors = [] }: { data?: unknown; errors?: readonly any[] }): Expected {
  const said = errors.map(({ extensions, path = [] }) => `${extensions?.code} ${path.join('.')}`)
  return { data, errors: said.sort() }
}
