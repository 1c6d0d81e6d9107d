import { performance } from 'node:perf_hooks'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { type AnswerLimits, type PlanEvent, useSources } from '@vinyasa/source-kit'
import {
  createDisposables,
  parseProtos,
  startRestBackend,
  waitUntil,
  type RestBackend,
} from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openJoined, PROTO } from './joined-world.ts'

// What an answer that is given up has called is cancelled: a slow call beside a join that leads around and around.

const FEW = usersOf(12)
/** With them an answer has 45 million objects, which takes longer than anybody waits. */
const MANY = usersOf(82)
let users = FEW

function usersOf(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({ id: `u${index}`, name: 'a', team: 'a' }))
}

const AROUND = 'users(id: "a") { users { mates { mates { mates { id } } } } }'
const FURTHER = AROUND.replace('id }', 'mates { id } }')
const SLOW = { gRPC: 'slow: user(id: "slow") { id }', REST: 'slow: thing { id }' }
const MULTIPART = 'multipart/mixed;deferSpec=20220824, application/json'

const cleanup = createDisposables(afterAll)
let rest: RestBackend
/** Requests of the tests before. */
let before = 0
let grpc: Parameters<typeof openJoined>[0]['grpc']
/** `executed`: answers of plans that the interpreter executed again. */
const seen = { started: 0, cancelled: 0, reads: 0, executed: 0 }

beforeAll(async () => {
  rest = cleanup.use(await startRestBackend(() => ({ json: [], delayMs: 600_000 })))
  const root = await parseProtos(PROTO)
  const list = root.lookupType('p.UserList')
  async function unary({ path, signal }: Call): Promise<Uint8Array> {
    if (!path.endsWith('GetUser')) {
      seen.reads++
      if (users === FEW) await waitUntil(() => calls.gRPC().started + calls.REST().started > 0)
      return list.encode(list.fromObject({ users })).finish()
    }
    seen.started++
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        seen.cancelled++
        reject(new Error('cancelled'))
      })
    })
  }
  const transport = () => ({ unary, stream: () => expect.unreachable('nothing streams'), close() {} })
  grpc = { endpoint: 'localhost:1', transport }
})

beforeEach(() => {
  Object.assign(seen, { started: 0, cancelled: 0, reads: 0, executed: 0 })
  before = rest.requests.length
  users = FEW
})

const calls = {
  gRPC: () => ({ started: seen.started, cancelled: seen.cancelled }),
  REST() {
    const requests = rest.requests.slice(before)
    const cancelled = requests.filter(({ cancelledAt }) => cancelledAt !== undefined)
    return { started: requests.length, cancelled: cancelled.length }
  },
}

interface Call {
  readonly path: string
  readonly signal: AbortSignal | undefined
}
interface Way {
  readonly plans: boolean
  readonly accept?: string
  readonly bodyOf: (slow: string, around: string) => object
}
const WAYS: Readonly<Record<string, Way>> = {
  plans: { plans: true, bodyOf: (slow, around) => ({ query: `{ ${slow} ${around} }` }) },
  'plans off': { plans: false, bodyOf: (slow, around) => ({ query: `{ ${slow} ${around} }` }) },
  'the first part of a deferred answer': {
    plans: true,
    accept: MULTIPART,
    bodyOf: (slow, around) => ({ query: `{ ${slow} ${around} ... @defer { later: ${around} } }` }),
  },
  'a deferred part': {
    plans: true,
    accept: MULTIPART,
    bodyOf: (slow, around) => ({ query: `{ __typename ... @defer { ${slow} } ... @defer { ${around} } }` }),
  },
  'a batch': {
    plans: true,
    bodyOf: (slow, around) => [{ query: `{ ${slow} ${around} }` }, { query: '{ __typename }' }],
  },
}

async function post(
  { plans, accept, bodyOf }: Way,
  slow: string,
  limits: AnswerLimits,
  signal?: AbortSignal,
) {
  const tell = ({ outcome }: PlanEvent): void => void (outcome === 'fell-back' && seen.executed++)
  const sources = await openJoined({ plans, tell, cleanup, grpc, restUrl: rest.url })
  const plugins = [useSources([], limits), useDeferSplitter(), ...sources] as Plugin[]
  const yoga = createYoga({ logging: false, maskedErrors: false, batching: true, plugins })
  const request = new Request('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: accept ?? 'application/json' },
    body: JSON.stringify(bodyOf(slow, users === FEW ? AROUND : FURTHER)),
    ...(signal && { signal }),
  })
  const response = await yoga.fetch(request)
  return response.text()
}

describe.each(Object.keys(SLOW) as (keyof typeof SLOW)[])('a slow call by %s', (kind) => {
  it.each(Object.entries(WAYS))('is cancelled with the refusal of the answer: %s', async (_, way) => {
    const text = await post(way, SLOW[kind], { maxAnswerObjects: 100 })
    expect(text).toContain('RESPONSE_TOO_LARGE')
    await waitUntil(() => calls[kind]().cancelled === 1)
    expect(calls[kind]()).toEqual({ started: 1, cancelled: 1 })
  })

  it.each(Object.entries(WAYS))('is cancelled when the client leaves, and not before: %s', async (_, way) => {
    const leaving = new AbortController()
    const answer = post(way, SLOW[kind], {}, leaving.signal).catch(() => 'left')
    await waitUntil(() => calls[kind]().started === 1 && seen.reads > 0)
    expect(calls[kind]()).toEqual({ started: 1, cancelled: 0 })
    leaving.abort()
    await waitUntil(() => calls[kind]().cancelled === 1)
    await answer
    // Yoga answers before the plan has seen that its calls failed.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(calls[kind]()).toEqual({ started: 1, cancelled: 1 })
    expect(seen.executed).toBe(0)
  })
})

describe('the work for a large answer', () => {
  const ways = ['plans off', 'the first part of a deferred answer', 'a deferred part'] as const
  it.each(ways)('is given up when the client leaves: %s', async (name) => {
    users = MANY
    const leaving = new AbortController()
    // Nothing slow is in it, and no bound ends it before the client leaves.
    const limits = { maxAnswerObjects: 0, maxAnswerBytes: 0 }
    const answer = post(WAYS[name] as Way, '__typename', limits, leaving.signal).catch(() => 'left')
    await waitUntil(() => seen.reads > 1, { timeoutMs: 5_000 })
    // What was read is on its way through the interpreter.
    const read = process.cpuUsage()
    await waitUntil(() => process.cpuUsage(read).user > 500_000)
    leaving.abort()
    const left = process.cpuUsage()
    // To take apart what was made takes 1 to 2 s, in short turns; the answer would take minutes.
    while (!(await isQuiet())) expect(process.cpuUsage(left).user).toBeLessThan(8_000_000)
    await answer
  })
})

/** Whether this process waits for something to do, most of a moment. */
async function isQuiet(): Promise<boolean> {
  const before = performance.eventLoopUtilization()
  await new Promise((resolve) => setTimeout(resolve, 200))
  return performance.eventLoopUtilization(before).utilization < 0.3
}
