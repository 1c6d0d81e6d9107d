import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postGraphQL, startDemo, type RunningDemo } from '../e2e/support/demo.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'

// A join that leads back to where it came from: 62 reviews make an answer of 198 MB, 82 one that no memory holds.

const AROUND = 'reviews { author { reviews { author { reviews { author { reviews { id } } } } } } }'
const WAYS: Readonly<Record<string, (id: string) => string>> = {
  'a query': (id) => `{ user(id: "${id}") { ${AROUND} } }`,
  'a live query': (id) => `query @live { user(id: "${id}") { ${AROUND} } }`,
}
const ACCEPT: Readonly<Record<string, string>> = {
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
