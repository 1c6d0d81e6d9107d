import { deepStrictEqual } from 'node:assert'
import { fields, product } from '../contenders/catalog.ts'
import type { BenchRequest, Program, Scenario } from '../src/index.ts'
import { GATEWAY, gatewayPrograms, SILENT_GATEWAY } from './gateway.ts'

const program = (name: string, file: string): Program => ({
  name,
  file: new URL(`../contenders/${file}.ts`, import.meta.url),
})

const YOGA = 'Yoga by hand, grpc-js'
const MERCURIUS = 'Mercurius + JIT'

const beside: readonly Program[] = [
  program(YOGA, 'catalog-by-hand'),
  program(MERCURIUS, 'catalog-mercurius'),
  ...gatewayPrograms({}),
]
const backends: readonly Program[] = [program('grpc', 'catalog-grpc-backend')]

function asked(query: string, variables?: object): Pick<BenchRequest, 'path' | 'body'> {
  return { path: '/graphql', body: JSON.stringify({ query, variables }) }
}

const known: BenchRequest = {
  ...asked(`query ($id: String!) { product(id: $id) { ${fields} } }`, { id: '{n}' }),
  numbers: 1000,
}
/** Every field but the first has an alias that nobody has sent before. */
const [, ...aliased] = fields.split(' ').map((name) => `${name}_{n}: ${name}`)
const newShape = asked(`query ($id: String!) { product(id: $id) { id ${aliased.join(' ')} } }`, { id: '7' })

function checkShape(answer: unknown, number: number): void {
  const { id, ...others } = product(7)
  const named = Object.entries(others).map(([name, value]) => [`${name}_${number}`, value])
  deepStrictEqual(answer, { data: { product: { id, ...Object.fromEntries(named) } } })
}

const ofGateway = (
  name: string,
  request: BenchRequest,
  env: Readonly<Record<string, string>> = {},
): Program => {
  const [, silent] = gatewayPrograms(env, request)
  return { ...silent, name }
}

/** Clients that make up their documents send a new one each time. */
const shapes: Scenario = {
  name: 'new-shape',
  title: 'One gRPC object, a new shape: aliases that nobody has sent before',
  request: newShape,
  check: checkShape,
  backends,
  contenders: beside,
  targets: [
    { of: GATEWAY, against: YOGA, atMost: 0.6 },
    { of: GATEWAY, against: MERCURIUS, atMost: 1 },
  ],
}

const PLUGIN = 'new literals, a plugin with onResponse beside'
const KNOWN = 'a known document'

/** Clients that write values into their documents send a new one each time. */
const literals: Scenario = {
  name: 'new-literals',
  title: 'One gRPC object, new literals in a known shape',
  request: asked(`{ product(id: "{n}") { ${fields} } }`),
  check: (answer, number) => deepStrictEqual(answer, { data: { product: product(number) } }),
  backends,
  contenders: [
    ...beside,
    ofGateway(KNOWN, known),
    ofGateway(PLUGIN, asked(`{ product(id: "{n}") { ${fields} } }`), { BENCH_WITH: 'onResponse' }),
  ],
  targets: [
    { of: GATEWAY, against: MERCURIUS, atMost: 1 },
    { of: SILENT_GATEWAY, against: KNOWN, atMost: 1.3 },
    { of: PLUGIN, against: KNOWN, atMost: 1.3 },
  ],
}

const TWO = '2,000 documents in turn'
const MANY = '20,000 documents in turn'
const ROOMY = '20,000 documents in turn, documentCacheMaxBytes 512 MiB'

/** The 64 MiB that a gateway keeps of documents by default hold some 3,000 of these. */
const many: Scenario = {
  name: 'many-documents',
  title: 'One gRPC object, 20,000 documents in turn',
  request: newShape,
  check: checkShape,
  backends,
  contenders: [
    ofGateway('one document', { ...newShape, numbers: 1 }),
    ofGateway('100 documents in turn', { ...newShape, numbers: 100 }),
    ofGateway(TWO, { ...newShape, numbers: 2_000 }),
    ofGateway(MANY, { ...newShape, numbers: 20_000 }),
    ofGateway(ROOMY, { ...newShape, numbers: 20_000 }, { BENCH_DOCUMENT_BYTES: String(512 * 1024 * 1024) }),
  ],
  targets: [
    { of: TWO, against: 'one document', atMost: 1.5 },
    { of: MANY, against: 'one document', atMost: 1.5 },
    { of: ROOMY, against: 'one document', atMost: 1.5 },
  ],
}

/** A query of a field that is not there: the same one each time. */
const invalid: Scenario = {
  name: 'invalid',
  title: 'An error of validation',
  request: asked('{ product(id: "7") { id zzzz } }'),
  isRefused: true,
  check(answer) {
    const { errors } = answer as { readonly errors: readonly { readonly message: string }[] }
    deepStrictEqual(
      errors.map(({ message }) => message),
      ['Cannot query field "zzzz" on type "Product".'],
    )
  },
  backends,
  contenders: beside,
  targets: [{ of: GATEWAY, against: MERCURIUS, atMost: 1 }],
}

/** The gateway tells caches and live queries of it besides. */
const mutation: Scenario = {
  name: 'mutation',
  title: 'A mutation over gRPC, whose answer has 10 fields',
  request: {
    ...asked(`mutation ($id: String!) { updateProduct(id: $id) { ${fields} } }`, { id: '{n}' }),
    numbers: 1000,
  },
  check: (answer, number) => deepStrictEqual(answer, { data: { updateProduct: product(number) } }),
  backends,
  contenders: beside,
  targets: [{ of: GATEWAY, against: MERCURIUS, atMost: 0.8 }],
}

/** What it costs that a document is new, or wrong, or a mutation. */
export const documents: readonly Scenario[] = [shapes, literals, many, invalid, mutation]
