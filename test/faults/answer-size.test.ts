import { fileURLToPath } from 'node:url'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postGraphQL, startDemo, type RunningDemo } from '../e2e/support/demo.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'

// A join that leads back to where it came from: 62 reviews make an answer of 198 MB, 82 one that no memory holds.

const around = (fields: string): string =>
  `reviews { author { reviews { author { reviews { author { reviews { ${fields} } } } } } } }`
const AROUND = around('id')
const WIDE = around('id productId userId rating text a: id b: id c: id d: id e: id')
const MULTIPART = 'multipart/mixed, application/json'

interface Way {
  readonly query: (id: string) => string
  readonly accept?: string
  readonly isBatch?: boolean
  /** How many are asked at once. Default: one. */
  readonly atOnce?: number
  /** Resolvers make the answer. Default: a plan does, where there is one. */
  readonly plans?: 'off'
  /** How long the client waits; then it leaves, and asks again. */
  readonly patienceMs?: number
}

const plain = (id: string): string => `{ user(id: "${id}") { ${AROUND} } }`
const WAYS: Readonly<Record<string, Way>> = {
  'a query': { query: plain },
  'a query without plans': { query: plain, plans: 'off' },
  'a query of many fields without plans': {
    query: (id) => `{ user(id: "${id}") { ${WIDE} } }`,
    plans: 'off',
  },
  'four queries at once without plans': { query: plain, plans: 'off', atOnce: 4 },
  'a mutation': { query: (id) => `mutation { updateUser(id: "${id}", name: "Ada") { ${AROUND} } }` },
  'a deferred query': {
    query: (id) => `{ user(id: "${id}") { id ... @defer { ${AROUND} } } }`,
    accept: MULTIPART,
  },
  'a batch': { query: plain, isBatch: true },
  'a live query': { query: (id) => `query @live ${plain(id)}`, accept: 'text/event-stream' },
  'a query whose client leaves': { query: plain, patienceMs: 150 },
  'a query without plans whose client leaves': { query: plain, plans: 'off', patienceMs: 150 },
}
/** Users, by how many reviews they get. */
const USERS: Readonly<Record<number, string>> = { 62: '1', 82: '2' }
const ROWS: readonly (readonly [string, number])[] = [
  ['a query', 62],
  ['a live query', 62],
  ...Object.keys(WAYS).map((way) => [way, 82] as const),
]
/** What every change is held to: each interpreter once. `pnpm test:faults` is all. */
const QUICK: ReadonlySet<string> = new Set(['a query without plans', 'a deferred query'])
const rows = ROWS.filter(([way]) => process.env['FAULTS_QUICK'] !== '1' || QUICK.has(way))

const config = fileURLToPath(new URL('./support/circular.config.ts', import.meta.url))
const gatewayArgs = ['--preset', 'production']
const disposables = createDisposables(afterAll)
let planned: RunningDemo
let unplanned: RunningDemo

beforeAll(async () => {
  planned = disposables.use(await startDemo({ config, gatewayArgs }))
  unplanned = disposables.use(
    await startDemo({ config, gatewayArgs, gatewayEnv: { PLANS: 'off' }, beside: planned }),
  )
  for (const [count, userId] of Object.entries(USERS)) {
    const { data } = await planned.query(`{ user(id: "${userId}") { reviews { id } } }`)
    const missing = Number(count) - data.user.reviews.length
    const create = `createReview(productId: "1", userId: "${userId}", rating: 5, text: "well") { id }`
    for (let added = 0; added < missing; added++) await planned.query(`mutation { ${create} }`)
  }
})

/** What is answered, of what goes on until its refusal; empty where the client leaves before. */
async function ask(url: string, way: Way, reviews: number): Promise<string> {
  const { query, accept = 'application/json', isBatch = false, patienceMs = 100_000 } = way
  const operation = { query: query(USERS[reviews] ?? '') }
  let text = ''
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify(isBatch ? [operation, operation] : operation),
      signal: AbortSignal.timeout(patienceMs),
    })
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      // A live query goes on.
      if (text.includes('RESPONSE_TOO_LARGE')) break
    }
  } catch (error) {
    if (way.patienceMs === undefined) throw error
  }
  return text
}

it.each(rows)(
  '%s of %i reviews, around and around: refused, and others are answered as before',
  async (name, reviews) => {
    const way = WAYS[name] as Way
    const { url, gateway } = way.plans === 'off' ? unplanned : planned
    const answers: string[] = []
    await besideNeighbours(
      {
        pid: gateway.pid,
        async ask() {
          const { data } = await postGraphQL(`${url}/graphql`, '{ user(id: "3") { id } }')
          return data?.user?.id === '3'
        },
      },
      {
        area: 'answers',
        fault: `${name} of ${reviews} reviews, around and around`,
        async run(signal) {
          const atOnce = Array.from({ length: way.atOnce ?? 1 })
          while (!signal.aborted)
            answers.push(...(await Promise.all(atOnce.map(() => ask(url, way, reviews)))))
        },
      },
    )
    expect(answers.length).toBeGreaterThan(0)
    // On a busy machine a deferred part may come to its deadline before, and a call for one of several that are asked at once.
    const others = answers.filter(
      (text) =>
        !/RESPONSE_TOO_LARGE|DEFER_FRAGMENT_TIMEOUT/.test(text) &&
        !(way.atOnce && text.includes('"TIMEOUT"')),
    )
    expect(way.patienceMs === undefined ? others : others.filter((text) => text !== '')).toEqual([])
  },
  NEIGHBOURS_TIMEOUT_MS,
)
