import { deepStrictEqual } from 'node:assert'
import { createHash } from 'node:crypto'
import {
  CAPTURED_ETAG,
  capturedClients,
  type CapturedRequest,
  messageOf,
  type RequestKind,
} from '../../clients/captured-requests.ts'
import { fields, product, products } from '../contenders/catalog.ts'
import type { BenchRequest, Program, Scenario } from '../src/index.ts'
import { gatewayPrograms } from './gateway.ts'

const PLAIN = 'a plain request'
const PATH = '/graphql'

const backend: Program = {
  name: 'grpc',
  file: new URL('../contenders/catalog-grpc-backend.ts', import.meta.url),
}

interface SentParams {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
}

const SUFFIXES: Readonly<Partial<Record<RequestKind, string>>> = {
  query: '',
  'query by GET': ', GET',
  'conditional query': ', GET with If-None-Match',
}

/** The query that all clients send, by POST and by GET. */
const requests = capturedClients.flatMap(({ client, requests: captured }) =>
  captured.flatMap((request) => {
    const suffix = SUFFIXES[request.kind]
    return suffix === undefined ? [] : [{ name: `${client}${suffix}`, request }]
  }),
)

/** Returns a captured request with the parameters of the scenario. `etag` is the tag of the cached response. */
function requestFor(captured: CapturedRequest, params: SentParams, etag = ''): BenchRequest {
  const { path, body } = messageOf(captured, params)
  const { kind, method, headers } = captured
  return {
    // The load generator replaces this text with numbers.
    path: path.replaceAll(encodeURIComponent('{n}'), '{n}'),
    body,
    headers: Object.fromEntries(
      headers.map(([name, value]) => [name.toLowerCase(), value === CAPTURED_ETAG ? etag : value]),
    ),
    ...(kind === 'conditional query' && { isNotModified: true }),
    ...(method === 'GET' && { method }),
  }
}

/** The gateway without a log, sent one query in the requests of each client. */
function contendersOf(
  params: SentParams,
  env: Readonly<Record<string, string>>,
  { numbers, etag }: { readonly numbers?: number; readonly etag?: string } = {},
): Program[] {
  const contender = (name: string, request: BenchRequest): Program => {
    const [, silent] = gatewayPrograms(env, { ...request, ...(numbers !== undefined && { numbers }) })
    return { ...silent, name }
  }
  return [
    contender(PLAIN, { path: PATH, body: JSON.stringify(params) }),
    ...requests
      .filter(({ request }) => etag !== undefined || request.kind !== 'conditional query')
      .map(({ name, request }) => contender(name, requestFor(request, params, etag))),
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

const HIT = { data: { products: { items: products(1) } } }

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
    { numbers: 1000 },
  ),
  scenario(
    {
      name: 'clients-hit',
      title: 'A cached object in the requests of clients',
      check: (answer) => deepStrictEqual(answer, HIT),
      backends: [backend],
    },
    { query: `query Hello { products(limit: 1) { items { ${fields} } } }` },
    { BENCH_CACHE: 'on' },
    { etag: `"${createHash('sha256').update(JSON.stringify(HIT)).digest('base64url')}"` },
  ),
]
