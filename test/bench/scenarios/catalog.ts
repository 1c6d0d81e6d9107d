import { deepStrictEqual } from 'node:assert'
import { fields, product, products } from '../contenders/catalog.ts'
import type { Program, Scenario } from '../src/index.ts'

const program = (name: string, file: string, env: Record<string, string> = {}): Program => ({
  name,
  file: new URL(`../contenders/${file}.ts`, import.meta.url),
  env,
})

type Backend = 'grpc' | 'rest'

const TARGETS = { 'grpc-1': 0.3, 'grpc-100': 0.2, 'rest-1': 0.35, 'rest-100': 0.35 }

function scenario(backend: Backend, count: 1 | 100): Scenario {
  const label = backend === 'grpc' ? 'gRPC' : 'REST'
  const query =
    count === 1 ? `{ product(id: "1") { ${fields} } }` : `{ products(limit: 100) { items { ${fields} } } }`
  const data = count === 1 ? { product: product(1) } : { products: { items: products(count) } }
  const byHand = backend === 'grpc' ? 'Yoga by hand, grpc-js' : 'Yoga by hand, fetch'
  const ours = backend === 'grpc' ? 'grpc-source + node-handler' : 'rest-connector + node-handler'
  const oursInYoga = backend === 'grpc' ? "grpc-source, Yoga's door" : "rest-connector, Yoga's door"
  return {
    name: `${backend}-${count}`,
    title: `${count} ${label} ${count === 1 ? 'object' : 'objects'} of 10 fields`,
    request: { path: '/graphql', body: JSON.stringify({ query }) },
    check: (answer) => deepStrictEqual(answer, { data }),
    backends: [program(backend, `catalog-${backend}-backend`)],
    contenders: [
      program(byHand, 'catalog-by-hand'),
      program(oursInYoga, 'catalog-vinyasa'),
      program(ours, 'catalog-vinyasa', { BENCH_DOOR: 'node-handler' }),
    ],
    targets: [{ of: ours, against: byHand, atMost: TARGETS[`${backend}-${count}`] }],
  }
}

export const catalog: readonly Scenario[] = [
  scenario('grpc', 1),
  scenario('grpc', 100),
  scenario('rest', 1),
  scenario('rest', 100),
]
