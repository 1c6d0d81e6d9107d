import { deepStrictEqual } from 'node:assert'
import { fields, products } from '../contenders/catalog.ts'
import type { Program, Scenario } from '../src/index.ts'
import { GATEWAY, gatewayPrograms } from './gateway.ts'

const program = (name: string, file: string, env: Record<string, string> = {}): Program => ({
  name,
  file: new URL(`../contenders/${file}.ts`, import.meta.url),
  env,
})

const FLOOR = 'node:http, same bytes'

/** What an answer from the response cache costs, be it small or large. */
function scenario(count: number): Scenario {
  const query = `{ products(limit: ${count}) { items { ${fields} } } }`
  return {
    name: `hit-${count}`,
    title: `Cached answer, ${count} ${count === 1 ? 'object' : 'objects'} of 10 fields`,
    request: { path: '/graphql', body: JSON.stringify({ query }) },
    check: (answer) => deepStrictEqual(answer, { data: { products: { items: products(count) } } }),
    backends: [program('grpc', 'catalog-grpc-backend')],
    contenders: [
      program(FLOOR, 'catalog-floor', { BENCH_COUNT: String(count) }),
      ...gatewayPrograms({ BENCH_CACHE: 'on' }),
    ],
    targets: [{ of: GATEWAY, against: FLOOR, atMost: 1.4 }],
  }
}

export const hits: readonly Scenario[] = [scenario(1), scenario(100), scenario(1000)]
