import { strictEqual } from 'node:assert'
import { existsSync } from 'node:fs'
import { answer, query } from '../contenders/supply/data.ts'
import type { Program, Scenario } from '../src/index.ts'
import { GATEWAY, gatewayPrograms } from './gateway.ts'

const program = (name: string, file: string, env: Record<string, string> = {}): Program => ({
  name,
  file: new URL(`../${file}`, import.meta.url),
  env,
})

const PEERS = new URL('../peers/node_modules/', import.meta.url)
const hasPeers = existsSync(new URL('@graphql-hive/router-runtime', PEERS))
const RUST = 'Hive Gateway, Rust planner'

const right = JSON.stringify(answer)

/**
 * What federation gateways are compared by: users with their reviews, those with their products, and back again. Behind ours
 * are two gRPC services and two REST APIs, behind Hive Gateway the same as subgraphs.
 */
export const supply: Scenario = {
  name: 'supply',
  title: `The federation gateways' own query, ${(right.length / 1000).toFixed(0)} kB`,
  request: { path: '/graphql', body: JSON.stringify({ query }) },
  // The same members in the same order.
  check: (given) => strictEqual(JSON.stringify(given), right),
  backends: [
    program('grpc', 'contenders/supply/grpc-backend.ts'),
    program('rest', 'contenders/supply/rest-backend.ts'),
    program('subgraphs', 'contenders/supply/subgraphs.ts'),
  ],
  contenders: [
    ...(hasPeers
      ? [
          program(RUST, 'peers/hive-federation.mjs', { BENCH_PLANNER: 'rust' }),
          program('Hive Gateway', 'peers/hive-federation.mjs'),
        ]
      : []),
    ...gatewayPrograms({ BENCH_CONFIG: 'supply/gateway.config.mjs' }),
  ],
  targets: hasPeers ? [{ of: GATEWAY, against: RUST, atMost: 0.2 }] : [],
}
