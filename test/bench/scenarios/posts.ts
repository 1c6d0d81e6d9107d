import { deepStrictEqual } from 'node:assert'
import { answer, query } from '../contenders/posts.ts'
import type { Program, Scenario } from '../src/index.ts'
import { GATEWAY, gatewayPrograms } from './gateway.ts'

const program = (name: string, file: string, env: Record<string, string> = {}): Program => ({
  name,
  file: new URL(`../contenders/${file}.ts`, import.meta.url),
  env,
})

const NAMES = { grpc: 'gRPC', rest: 'REST' } as const
const PACKAGES = { grpc: 'grpc-source', rest: 'rest-connector' } as const

/**
 * A list whose items each have one entity of another service: 100 posts, 10 authors. Of two backends, the first has the
 * posts.
 */
function scenario(...backends: readonly (keyof typeof NAMES)[]): Scenario {
  const ours = [...backends.map((name) => PACKAGES[name]), 'node-handler'].join(' + ')
  const batched = 'Yoga by hand, DataLoader'
  return {
    name: `join-${backends.join('-')}`,
    title: `100 posts joined to 10 users, ${backends.map((name) => NAMES[name]).join(' to ')}`,
    request: { path: '/graphql', body: JSON.stringify({ query }) },
    check: (given) => deepStrictEqual(given, answer),
    backends: backends.map((name) => program(name, `posts-${name}-backend`)),
    contenders: [
      program('Yoga by hand, a call for each', 'posts-by-hand'),
      program(batched, 'posts-by-hand', { BENCH_JOIN: 'batch' }),
      program('Mercurius + JIT, loaders', 'posts-mercurius'),
      program(ours, 'posts-vinyasa'),
      ...gatewayPrograms({ BENCH_SCHEMA: 'posts' }),
    ],
    targets: [
      { of: ours, against: 'Yoga by hand, a call for each', atMost: 0.05 },
      { of: ours, against: batched, atMost: 0.4 },
      { of: GATEWAY, against: batched, atMost: 0.2 },
    ],
  }
}

export const posts: readonly Scenario[] = [scenario('grpc'), scenario('rest'), scenario('grpc', 'rest')]
