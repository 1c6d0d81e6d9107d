import { deepStrictEqual } from 'node:assert'
import type { Program, Scenario } from '../src/index.ts'

const program = (name: string, file: string, env: Record<string, string> = {}): Program => ({
  name,
  file: new URL(`../contenders/${file}.ts`, import.meta.url),
  env,
})

/** What the HTTP layer costs: there is next to nothing to execute. */
export const hello: Scenario = {
  name: 'hello',
  title: 'Hello: `{ hello }`',
  request: { path: '/graphql', body: JSON.stringify({ query: '{ hello }' }) },
  check: (answer) => deepStrictEqual(answer, { data: { hello: 'world' } }),
  contenders: [
    program('Yoga', 'hello-yoga'),
    program('Yoga, no size limit', 'hello-yoga', { BENCH_SIZE_LIMIT: 'off' }),
    program('Mercurius + JIT', 'hello-mercurius'),
    program('node:http floor', 'hello-floor'),
  ],
  targets: [],
}
