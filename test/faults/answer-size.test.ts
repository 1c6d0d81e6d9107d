import { createDisposables, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postGraphQL, startDemo, type RunningDemo } from '../e2e/support/demo.ts'
import { recordFigure } from './support/figures.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'
import { processorTime } from './support/processor.ts'

// A join that leads back to where it came from: 62 reviews make an answer of 198 MB, 82 one that no memory holds.

const AROUND = 'reviews { author { reviews { author { reviews { author { reviews { id } } } } } } }'
const WAYS: Readonly<Record<string, (id: string) => string>> = {
  'a query': (id) => `{ user(id: "${id}") { ${AROUND} } }`,
  'a deferred query': (id) => `{ user(id: "${id}") { id ... @defer { ${AROUND} } } }`,
  'a live query': (id) => `query @live { user(id: "${id}") { ${AROUND} } }`,
  'a mutation': (id) => `mutation { updateUser(id: "${id}", name: "Ada") { ${AROUND} } }`,
}
const ACCEPT: Readonly<Record<string, string>> = {
  'a deferred query': 'multipart/mixed;deferSpec=20220824, application/json',
  'a live query': 'text/event-stream',
}
/** Users, by how many reviews they get. */
const USERS: Readonly<Record<number, string>> = { 62: '1', 82: '2' }

const disposables = createDisposables(afterAll)
let demo: RunningDemo

beforeAll(async () => {
  demo = disposables.use(await startDemo({ gatewayArgs: ['--preset', 'production'] }))
  for (const [count, userId] of Object.entries(USERS)) {
    const { data } = await postGraphQL(`${demo.url}/graphql`, `{ user(id: "${userId}") { reviews { id } } }`)
    const missing = Number(count) - data.user.reviews.length
    const create = `createReview(productId: "1", userId: "${userId}", rating: 5, text: "well") { id }`
    for (let added = 0; added < missing; added++)
      await postGraphQL(`${demo.url}/graphql`, `mutation { ${create} }`)
  }
})

async function ask(way: string, reviews: number, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${demo.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: ACCEPT[way] ?? 'application/json' },
    body: JSON.stringify({ query: WAYS[way]?.(USERS[reviews] ?? '') }),
    signal,
  })
  let text = ''
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    // A live query goes on.
    if (text.includes('RESPONSE_TOO_LARGE')) break
  }
  return text
}

const rows = [62, 82].flatMap((reviews) => ['a query', 'a live query'].map((way) => [way, reviews] as const))

it.each(rows)(
  '%s of %i reviews, around and around: refused, and others are answered as before',
  async (way, reviews) => {
    const answers: string[] = []
    await besideNeighbours(
      {
        pid: demo.gateway.pid,
        async ask() {
          const { data } = await postGraphQL(`${demo.url}/graphql`, '{ user(id: "3") { id } }')
          return data?.user?.id === '3'
        },
      },
      {
        area: 'answers',
        fault: `${way} of ${reviews} reviews, around and around`,
        async run(signal) {
          while (!signal.aborted) answers.push(await ask(way, reviews, AbortSignal.timeout(30_000)))
        },
      },
    )
    expect(answers.length).toBeGreaterThan(0)
    expect(answers.filter((text) => !text.includes('RESPONSE_TOO_LARGE'))).toEqual([])
  },
  NEIGHBOURS_TIMEOUT_MS,
)

// Interpreters make the objects of an answer before there is one: up to the bound they take a third of a kilobyte each.
it.each(['a deferred query', 'a mutation'])(
  '%s of 82 reviews, executed ordinarily, is refused, and the gateway lives on',
  async (way) => {
    const text = await ask(way, 82, AbortSignal.timeout(120_000))
    expect(text).toContain('RESPONSE_TOO_LARGE')
    const { data } = await postGraphQL(`${demo.url}/graphql`, '{ user(id: "3") { id } }')
    expect(data).toEqual({ user: { id: '3' } })
  },
  NEIGHBOURS_TIMEOUT_MS,
)

it('what nobody waits for any more is given up', async () => {
  const leave = new AbortController()
  const asked = ask('a mutation', 82, leave.signal).catch(() => 'left')
  setTimeout(() => leave.abort(), 100)
  expect(await asked).toBe('left')
  let used = processorTime(demo.gateway.pid).usedMs
  await waitUntil(
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      const now = processorTime(demo.gateway.pid).usedMs
      const spent = now - used
      used = now
      return spent < 100
    },
    { awaited: 'the work to end', timeoutMs: 10_000 },
  )
  recordFigure({
    area: 'answers',
    fault: 'the client of a large answer leaves',
    asked: 'idle in 10 s',
    seen: 'idle',
  })
})
