import { deepStrictEqual } from 'node:assert'
import { existsSync } from 'node:fs'
import { fields, product, products } from '../contenders/catalog.ts'
import type { Program, Scenario } from '../src/index.ts'
import { GATEWAY, gatewayPrograms } from './gateway.ts'
import { tailcallPrograms } from './tailcall.ts'

const program = (name: string, file: string, env: Record<string, string> = {}): Program => ({
  name,
  file: new URL(`../contenders/${file}.ts`, import.meta.url),
  env,
})

type Backend = 'grpc' | 'rest'

const GATEWAY_TARGETS = { 'grpc-1': 0.17, 'grpc-100': 0.15, 'rest-1': 0.25, 'rest-100': 0.22 }
const TARGETS = { 'grpc-1': 0.3, 'grpc-100': 0.2, 'rest-1': 0.35, 'rest-100': 0.35 }
const TAILCALL_TARGETS = { 'grpc-1': 1.2, 'grpc-100': 0.25, 'rest-1': undefined, 'rest-100': 0.5 }
const HIVE_TARGETS = { 'grpc-1': undefined, 'grpc-100': 0.1, 'rest-1': 0.2, 'rest-100': 0.2 }

/** Heavy peers stand in a folder of their own: `pnpm bench:peers` installs them. */
const hasPeers = existsSync(new URL('../peers/node_modules/@graphql-hive', import.meta.url))
if (!hasPeers) console.log('without Hive Gateway: `pnpm bench:peers` installs it')

const hive = 'Hive Gateway, Mesh handler'

/** One object is another one each time: identical calls in flight may be shared, which is not what is measured here. */
const IDS = 1000

function bodyFor(count: 1 | 100, query: string): { readonly body: string; readonly numbers?: number } {
  if (count === 100) return { body: JSON.stringify({ query }) }
  return { body: JSON.stringify({ query, variables: { id: '{n}' } }), numbers: IDS }
}

/** Mesh names gRPC fields after packages and services. */
function hiveProgram(backend: Backend, count: 1 | 100, query: string): Program {
  const named = {
    1: `query ($id: String!) { product: bench_v1_CatalogService_GetProduct(input: { id: $id }) { ${fields} } }`,
    100: `{ products: bench_v1_CatalogService_ListProducts(input: { limit: 100 }) { items { ${fields} } } }`,
  }
  return {
    name: hive,
    file: new URL('../peers/hive.mjs', import.meta.url),
    request: {
      path: '/graphql',
      ...bodyFor(count, backend === 'grpc' ? named[count] : query),
    },
  }
}

function scenario(backend: Backend, count: 1 | 100): Scenario {
  const label = backend === 'grpc' ? 'gRPC' : 'REST'
  const query =
    count === 1
      ? `query ($id: String!) { product(id: $id) { ${fields} } }`
      : `{ products(limit: 100) { items { ${fields} } } }`
  const byHand = backend === 'grpc' ? 'Yoga by hand, grpc-js' : 'Yoga by hand, fetch'
  const ours = backend === 'grpc' ? 'grpc-source + node-handler' : 'rest-connector + node-handler'
  const oursInYoga = backend === 'grpc' ? "grpc-source, Yoga's door" : "rest-connector, Yoga's door"
  const atMostOfTailcall = TAILCALL_TARGETS[`${backend}-${count}`]
  const atMostOfHive = HIVE_TARGETS[`${backend}-${count}`]
  return {
    name: `${backend}-${count}`,
    title: `${count} ${label} ${count === 1 ? 'object' : 'objects'} of 10 fields`,
    request: { path: '/graphql', ...bodyFor(count, query) },
    check: (answer, number) =>
      deepStrictEqual(answer, {
        data: count === 1 ? { product: product(number) } : { products: { items: products(count) } },
      }),
    backends: [program(backend, `catalog-${backend}-backend`)],
    contenders: [
      program(byHand, 'catalog-by-hand'),
      program('Mercurius + JIT', 'catalog-mercurius'),
      ...(hasPeers ? [hiveProgram(backend, count, query)] : []),
      ...tailcallPrograms,
      program(oursInYoga, 'catalog-vinyasa'),
      program(ours, 'catalog-vinyasa', { BENCH_DOOR: 'node-handler' }),
      ...gatewayPrograms({}),
    ],
    targets: [
      { of: GATEWAY, against: byHand, atMost: GATEWAY_TARGETS[`${backend}-${count}`] },
      { of: ours, against: byHand, atMost: TARGETS[`${backend}-${count}`] },
      ...tailcallPrograms.flatMap(({ name }) =>
        atMostOfTailcall ? [{ of: GATEWAY, against: name, atMost: atMostOfTailcall }] : [],
      ),
      ...(hasPeers && backend === 'grpc' && count === 100
        ? [{ of: GATEWAY, against: hive, atMost: 0.06 }]
        : []),
      ...(hasPeers && atMostOfHive ? [{ of: ours, against: hive, atMost: atMostOfHive }] : []),
    ],
  }
}

export const catalog: readonly Scenario[] = [
  scenario('grpc', 1),
  scenario('grpc', 100),
  scenario('rest', 1),
  scenario('rest', 100),
]
