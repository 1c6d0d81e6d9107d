import { isDeepStrictEqual } from 'node:util'
import { type DeferSplitterOptions, useDeferSplitter } from '@vinyasa/defer-splitter'
import { useLiveQuery } from '@vinyasa/live-query'
import { type AnswerLimits, useSources } from '@vinyasa/source-kit'
import { createDisposables, parseProtos, startRestBackend, type RestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { document, openJoined, PROTO, type Row } from './joined-world.ts'
import { watchTurns } from './longest-turn.ts'

// The answer to any operation is right and within its limits, or it is refused: on every way that makes one. Joins lead
// back to where they came from, so that answers are a multiple of what the backends gave. Meanwhile nobody else waits long.

interface Result {
  readonly data?: Record<string, unknown> | null
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[]
}
type Ask = (limits: AnswerLimits, query: string) => Promise<readonly Result[]>

/** Others may wait so much longer than when nothing goes on, or so long. */
const MAX_TIMES_QUIET = 10
const MAX_WAIT_MS = 100

const cleanup = createDisposables(afterAll)
let users: readonly Row[] = []
let things: readonly Row[] = []
/** What others waited since the last question, at most. */
let waitedMs = 0
let rest: RestBackend
let grpc: Parameters<typeof openJoined>[0]['grpc']

beforeAll(async () => {
  rest = cleanup.use(await startRestBackend(() => ({ json: things })))
  const root = await parseProtos(PROTO)
  const bytes = (name: string, value: object): Uint8Array => {
    const type = root.lookupType(`p.${name}`)
    return type.encode(type.fromObject(value)).finish()
  }
  async function unary({ path }: { readonly path: string }): Promise<Uint8Array> {
    return path.endsWith('GetUser') ? bytes('User', users[0] ?? {}) : bytes('UserList', { users })
  }
  const transport = () => ({ unary, stream: () => expect.unreachable('nothing streams'), close() {} })
  grpc = { endpoint: 'localhost:1', transport }
})

type Fetch = (body: object, accept?: string, isRead?: (text: string) => boolean) => Promise<string>

async function serve(plans: boolean, limits: AnswerLimits, others: readonly object[] = []): Promise<Fetch> {
  const sources = await openJoined({ plans, tell: () => {}, cleanup, grpc, restUrl: rest.url })
  const plugins = [useSources([], limits), ...others, ...sources] as Plugin[]
  const yoga = createYoga({ logging: false, maskedErrors: false, batching: true, plugins })
  const fetch: Fetch = async (body, accept = 'application/json', isRead = () => false) => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify(body),
    })
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      if (isRead(text)) break
    }
    return text
  }
  return async (...asked) => {
    const { result, longestMs } = await watchTurns(() => fetch(...asked))
    waitedMs = longestMs
    return result
  }
}

const defer = (strategy: DeferSplitterOptions['strategy']): object => useDeferSplitter({ strategy })
const variables = { yes: true, limit: 2 }

const whole =
  (plans: boolean): Ask =>
  async (limits, query) => [JSON.parse(await (await serve(plans, limits))({ query, variables }))]

/** Each root field is a fragment of its own. */
function deferred(strategy: DeferSplitterOptions['strategy'], isLate: boolean): Ask {
  return async (limits, query) => {
    const parts = query.replace(
      /^(query.*?)\{ (f0: .*?)(?: (f1: .*?))? \} (fragment|$)/s,
      (_, head, a, b, tail) => {
        const fields = [a, b].filter(Boolean).map((field) => `... @defer { ${field} }`)
        return `${head}{ ${isLate ? '__typename ' : ''}${fields.join(' ')} }${tail}`
      },
    )
    expect(parts).toContain('@defer')
    const fetch = await serve(true, limits, [defer(strategy)])
    const text = await fetch(
      { query: parts, variables },
      'multipart/mixed;deferSpec=20220824, application/json',
    )
    return [merged(text)]
  }
}

function merged(text: string): Result {
  const data: Record<string, unknown> = {}
  const errors: NonNullable<Result['errors']>[number][] = []
  for (const [json] of text.matchAll(/^\{.*\}$/gm)) {
    const { incremental = [], ...first } = JSON.parse(json)
    for (const part of [first, ...incremental]) {
      Object.assign(data, part.data)
      errors.push(...(part.errors ?? []))
    }
  }
  delete data['__typename']
  return errors.length > 0 ? { errors } : { data }
}

const live: Ask = async (limits, query) => {
  const fetch = await serve(true, limits, [useLiveQuery({ defaults: { enabled: true } })])
  const asked = { query: query.replace(/^query(\(.*?\))?/, '$& @live'), variables }
  const first = /data: (\{.*\})\n/
  const text = await fetch(asked, 'text/event-stream', (read) => first.test(read))
  const { extensions: _, ...result } = JSON.parse(first.exec(text)?.[1] ?? '{}')
  return [result]
}

const batch: Ask = async (limits, query) =>
  JSON.parse(
    await (
      await serve(true, limits)
    )([
      { query, variables },
      { query, variables },
    ]),
  )

const WAYS: readonly (readonly [string, Ask])[] = [
  ['plans', whole(true)],
  ['plans off', whole(false)],
  ['deferred, streaming', deferred('streaming', true)],
  ['deferred, eager', deferred('eager', true)],
  ['deferred, all of it', deferred('streaming', false)],
  ['live', live],
  ['batch', batch],
]

function objectsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const below = Object.values(value).reduce<number>((sum, member) => sum + objectsIn(member), 0)
  return Array.isArray(value) ? below : below + 1
}

const isRefused = ({ data, errors }: Result): boolean =>
  !data && errors?.some(({ extensions }) => extensions?.code === 'RESPONSE_TOO_LARGE') === true

const key = fc.constantFrom('a', 'b', 'c', 'd')
const user = fc.record({
  id: key,
  name: fc.constantFrom('a', 'b', 'long '.repeat(20)),
  partId: key,
  team: fc.constantFrom('a', 'b'),
})
const thing = fc.record({ id: key, name: fc.constantFrom('a', 'b'), ownerId: key })

describe.each(WAYS)('by %s', (_, ask) => {
  it('an answer is right and within its limits, or refused, and others are not kept waiting', async () => {
    const seen = { right: 0, refused: 0 }
    const quiet = await watchTurns(() => new Promise((resolve) => setTimeout(resolve, 100)))
    const mayWaitMs = Math.max(MAX_TIMES_QUIET * quiet.longestMs, MAX_WAIT_MS)
    await fc.assert(
      fc.asyncProperty(
        document,
        fc.array(user, { minLength: 1, maxLength: 8 }),
        fc.array(thing, { maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 100, max: 20_000 }),
        async (query, someUsers, someThings, maxAnswerObjects, maxAnswerBytes) => {
          ;[users, things] = [someUsers, someThings]
          const unlimited = { maxAnswerObjects: 0, maxAnswerBytes: 0 }
          const [wanted = {}] = await whole(false)(unlimited, query)
          fc.pre(wanted.errors === undefined)
          const objects = objectsIn(wanted.data) - 1
          const bytes = JSON.stringify(wanted).length
          const isTooLarge = objects > maxAnswerObjects || bytes > 1.3 * maxAnswerBytes
          const mayBeTooLarge = isTooLarge || bytes > 0.7 * maxAnswerBytes
          const answers = await ask({ maxAnswerObjects, maxAnswerBytes }, query)
          // Code is compiled the first time, and garbage collected at any.
          if (waitedMs > mayWaitMs) await ask({ maxAnswerObjects, maxAnswerBytes }, query)
          expect(waitedMs).toBeLessThanOrEqual(mayWaitMs)
          const judged = answers.map((result) => {
            const isRight = !isTooLarge && isDeepStrictEqual(result, wanted)
            const isWell = isRight || (mayBeTooLarge && isRefused(result))
            seen[isRight ? 'right' : 'refused']++
            return isWell ? 'well' : { result, wanted, objects, bytes }
          })
          expect(judged).toEqual(answers.map(() => 'well'))
        },
      ),
      { numRuns: 60, seed: 20261124 },
    )
    expect(seen.right).toBeGreaterThan(10)
    expect(seen.refused).toBeGreaterThan(10)
  })
})
