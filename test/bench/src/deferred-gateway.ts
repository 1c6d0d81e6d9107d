import { deepStrictEqual } from 'node:assert'
import { setTimeout } from 'node:timers/promises'
import { createDeferClient, type DeferTimes } from './defer-client.ts'
import { mergeDeferred } from './merge-deferred.ts'
import { type RunningProgram, startProgram } from './start-program.ts'
import { median, spreadOf } from './statistics.ts'
import type { Program } from './types.ts'

/** The most that the first payload may take, of the time of a query for the same fields alone. */
const AT_MOST = 1.2

interface Case {
  readonly title: string
  /** What is sent first, asked alone. */
  readonly plain: string
  readonly deferred: string
  readonly backend?: Program
  /** In place of the gateway. */
  readonly server?: URL
  readonly env: Readonly<Record<string, string>>
  /** Operations of each kind a round. */
  readonly operations: number
  /**
   * Milliseconds of rest before each, of both kinds: one that waits leaves the processor to sleep, and the next finds it
   * asleep, which says nothing of deferring.
   */
  readonly restMs?: number
}

export interface DeferredGatewayOptions {
  readonly rounds: number
  readonly smoke: boolean
}

const contender = (name: string): URL => new URL(`../contenders/${name}`, import.meta.url)
const posts = (env: Readonly<Record<string, string>>): Program => ({
  name: 'posts and users',
  file: contender('posts-grpc-backend.ts'),
  env,
})
const plainPosts = '{ posts(limit: 100) { items { id title } } }'
const deferredPosts = '{ posts(limit: 100) { items { id title ... @defer { author { name } } } } }'

const casesOf = (operations: number): readonly Case[] => [
  {
    title: '`node:http` that has both parts of a hello',
    plain: '{ hello }',
    deferred: '{ hello ... @defer { late: hello } }',
    server: contender('deferred-floor.ts'),
    env: {},
    operations,
  },
  {
    title: 'hello, deferred once more',
    plain: '{ hello }',
    deferred: '{ hello ... @defer { late: hello } }',
    env: { BENCH_SCHEMA: 'hello' },
    operations,
  },
  {
    title: 'one gRPC object, half of it deferred',
    plain: '{ product(id: "1") { id name brand } }',
    deferred: '{ product(id: "1") { id name brand ... @defer { description price } } }',
    backend: { name: 'catalog', file: contender('catalog-grpc-backend.ts') },
    env: { BENCH_SCHEMA: 'catalog' },
    operations,
  },
  {
    title: 'one gRPC object beside a deferred one',
    plain: '{ product(id: "1") { id name brand } }',
    deferred: '{ product(id: "1") { id name brand } ... @defer { late: product(id: "2") { id name } } }',
    backend: { name: 'catalog', file: contender('catalog-grpc-backend.ts') },
    env: { BENCH_SCHEMA: 'catalog' },
    operations,
  },
  {
    title: '100 gRPC objects, each with a deferred join that is fast',
    plain: plainPosts,
    deferred: deferredPosts,
    backend: posts({}),
    env: { BENCH_SCHEMA: 'posts' },
    operations: Math.ceil(operations / 4),
  },
  {
    title: 'the same, the join takes 50 ms, each after as much rest',
    plain: plainPosts,
    deferred: deferredPosts,
    backend: posts({ BENCH_JOIN_MS: '50' }),
    env: { BENCH_SCHEMA: 'posts' },
    operations: Math.ceil(operations / 16),
    restMs: 50,
  },
]

const ACCEPT = 'multipart/mixed;deferSpec=20220824, application/json'

interface Round {
  readonly first: number
  readonly last: number
  readonly cpu: number
}

async function runRound(
  gateway: RunningProgram,
  query: string,
  { operations, restMs }: Case,
): Promise<Round> {
  const client = createDeferClient()
  const url = new URL('/graphql', gateway.url).href
  const times: DeferTimes[] = []
  const before = await gateway.usage()
  for (let count = 0; count < operations; count++) {
    if (restMs !== undefined) await setTimeout(restMs)
    times.push(await client.ask(url, query, ACCEPT))
  }
  const after = await gateway.usage()
  client.close()
  return {
    first: median(times.map(({ firstMs }) => firstMs)),
    last: median(times.map(({ lastMs }) => lastMs)),
    cpu: (after.cpuMicros - before.cpuMicros) / operations / 1_000,
  }
}

/** The deferred answer begins with the plain one, and is the whole one in the end. */
async function check(gateway: RunningProgram, { plain, deferred }: Case): Promise<void> {
  const client = createDeferClient()
  const url = new URL('/graphql', gateway.url).href
  const whole = deferred.replaceAll('... @defer', '...')
  const bodiesOf = async (query: string): Promise<readonly Record<string, unknown>[]> => {
    const { bodies } = await client.ask(url, query, ACCEPT)
    return bodies.map((body) => JSON.parse(body) as Record<string, unknown>)
  }
  const parts = await bodiesOf(deferred)
  if (parts.length < 2) throw new Error(`the gateway did not defer ${deferred}`)
  const { hasNext: _, ...first } = parts[0] ?? {}
  deepStrictEqual([first], await bodiesOf(plain))
  const [expected] = await bodiesOf(whole)
  deepStrictEqual(mergeDeferred(parts), expected?.['data'])
  client.close()
}

/**
 * `vinyasa start` with the production preset, its log in a file: what is sent first of a deferred operation beside the same
 * asked alone, in turns, over one kept connection each.
 */
export async function measureDeferredGateway({
  rounds,
  smoke,
}: DeferredGatewayOptions): Promise<readonly string[]> {
  const lines = [
    'Milliseconds to the first payload, and CPU milliseconds an operation; the plain query asks for what the first payload holds.',
    '',
    '| | plain | first payload | ratio | aimed at | | last byte | CPU plain | CPU deferred |',
    '|---|--:|--:|--:|--:|---|--:|--:|--:|',
  ]
  for (const given of casesOf(smoke ? 4 : 400)) lines.push(await measure(given, smoke ? 1 : rounds, smoke))
  return lines
}

async function measure(given: Case, rounds: number, smoke: boolean): Promise<string> {
  const { title, plain, deferred, backend, env, server = contender('gateway.mjs') } = given
  const started = backend && (await startProgram(backend))
  try {
    const urls: Readonly<Record<string, string>> = started ? { BENCH_GRPC_URL: started.url } : {}
    const gateway = await startProgram({ name: title, file: server, env, writesToFile: true }, urls)
    try {
      await check(gateway, given)
      const found = { plain: [] as Round[], deferred: [] as Round[] }
      const runBoth = async (): Promise<void> => {
        found.plain.push(await runRound(gateway, plain, given))
        found.deferred.push(await runRound(gateway, deferred, given))
      }
      const warmups = smoke ? 0 : 5
      for (let time = 0; time < warmups; time++) await runBoth()
      found.plain.length = found.deferred.length = 0
      for (let round = 0; round < rounds; round++) await runBoth()
      await check(gateway, given)
      const ratios = found.deferred.map(
        ({ first }, round) => first / (found.plain[round]?.first ?? Number.NaN),
      )
      const ratio = median(ratios)
      const of = (values: readonly number[]): string => {
        const spread = spreadOf(values)
        return `${spread.median.toFixed(2)} (${spread.min.toFixed(2)}–${spread.max.toFixed(2)})`
      }
      const cells = [
        title,
        of(found.plain.map(({ first }) => first)),
        of(found.deferred.map(({ first }) => first)),
        of(ratios),
        `≤ ${AT_MOST}`,
        ratio <= AT_MOST ? 'met' : '**missed**',
        of(found.deferred.map(({ last }) => last)),
        of(found.plain.map(({ cpu }) => cpu)),
        of(found.deferred.map(({ cpu }) => cpu)),
      ]
      const line = `| ${cells.join(' | ')} |`
      console.log(line)
      return line
    } finally {
      await gateway.stop()
    }
  } finally {
    await started?.stop()
  }
}
