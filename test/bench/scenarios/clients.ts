import { deepStrictEqual } from 'node:assert'
import { capturedRequests, messageOf, type SentParams } from '../../clients/captured-requests.ts'
import { fields, product, products } from '../contenders/catalog.ts'
import type { BenchRequest, Program, Scenario } from '../src/index.ts'
import { gatewayPrograms } from './gateway.ts'

const PLAIN = 'a plain request'
const PATH = '/graphql'

const backend: Program = {
  name: 'grpc',
  file: new URL('../contenders/catalog-grpc-backend.ts', import.meta.url),
}

/** The gateway without a log, sent one query in the requests of each client. */
function contendersOf(
  params: SentParams,
  env: Readonly<Record<string, string>>,
  numbers?: number,
): Program[] {
  const contender = (name: string, request: BenchRequest): Program => {
    const [, silent] = gatewayPrograms(env, { ...request, ...(numbers !== undefined && { numbers }) })
    return { ...silent, name }
  }
  return [
    contender(PLAIN, { path: PATH, body: JSON.stringify(params) }),
    ...capturedRequests.map((captured) => {
      const { path, body } = messageOf(captured, PATH, { operationName: undefined, ...params })
      const { client, method, headers } = captured
      // The load generator writes numbers in the place of this text.
      const target = path.replaceAll(encodeURIComponent('{n}'), '{n}')
      return contender(client, { path: target, body, headers, ...(method === 'GET' && { method }) })
    }),
  ]
}

function scenario(
  given: Pick<Scenario, 'name' | 'title' | 'check' | 'backends'>,
  ...contending: Parameters<typeof contendersOf>
): Scenario {
  const contenders = contendersOf(...contending)
  return {
    ...given,
    request: { path: PATH, body: JSON.stringify(contending[0]) },
    contenders,
    targets: contenders.slice(1).map(({ name }) => ({ of: name, against: PLAIN, atMost: 1.1 })),
  }
}

/** What it costs that requests look as clients send them. */
export const clients: readonly Scenario[] = [
  scenario(
    {
      name: 'clients-hello',
      title: '`{ hello }` in the requests of clients',
      check: (answer) => deepStrictEqual(answer, { data: { hello: 'world' } }),
    },
    { query: 'query Hello { hello }' },
    { BENCH_SCHEMA: 'hello' },
  ),
  scenario(
    {
      name: 'clients-grpc-1',
      title: 'One gRPC object in the requests of clients',
      check: (answer, number) => deepStrictEqual(answer, { data: { product: product(number) } }),
      backends: [backend],
    },
    {
      query: `query Hello($id: String!) { product(id: $id) { ${fields} } }`,
      variables: { id: '{n}' },
    },
    {},
    1000,
  ),
  scenario(
    {
      name: 'clients-hit',
      title: 'A cached object in the requests of clients',
      check: (answer) => deepStrictEqual(answer, { data: { products: { items: products(1) } } }),
      backends: [backend],
    },
    { query: `query Hello { products(limit: 1) { items { ${fields} } } }` },
    { BENCH_CACHE: 'on' },
  ),
]
