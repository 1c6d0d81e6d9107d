import { deepStrictEqual } from 'node:assert'
import { GATEWAY, gatewayPrograms } from './gateway.ts'
import { tailcallPrograms } from './tailcall.ts'
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
    program('node-handler', 'hello-yoga', { BENCH_DOOR: 'node-handler' }),
    program('Mercurius + JIT', 'hello-mercurius'),
    program('node:http floor', 'hello-floor'),
    ...tailcallPrograms,
    ...gatewayPrograms({ BENCH_SCHEMA: 'hello' }),
  ],
  targets: [
    { of: GATEWAY, against: 'Mercurius + JIT', atMost: 1.5 },
    { of: GATEWAY, against: 'Yoga', atMost: 0.25 },
    { of: 'node-handler', against: 'Yoga', atMost: 0.4 },
    { of: 'node-handler', against: 'Mercurius + JIT', atMost: 1.2 },
  ],
}
