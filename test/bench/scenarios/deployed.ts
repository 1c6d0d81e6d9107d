import { createHash, createHmac } from 'node:crypto'
import type { BenchRequest, Program, Scenario } from '../src/index.ts'
import { catalog } from './catalog.ts'
import { GATEWAY, gatewayPrograms } from './gateway.ts'
import { hello } from './hello.ts'
import { hits } from './hit.ts'

/** Hooks that people's own plugins have. */
const HOOKS = [
  'onRequest',
  'onParams',
  'onParse',
  'onValidate',
  'onContextBuilding',
  'onExecute',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
]
const EVERYTHING = 'JWT, rules, documents by id, cost, rate limit, metrics, log'
const SECRET = 'a secret of the benchmark that is long enough'

/** What it costs to have what people deploy: each alone, all together, and a plugin of one's own with a single hook. */
function scenario(of: Scenario): Scenario {
  const { env = {} } = of.contenders.find(({ name }) => name === GATEWAY) ?? {}
  const byId = withId(of.request)
  const variant = (name: string, asked: string, request?: BenchRequest): Program => {
    const [, silent] = gatewayPrograms(
      { ...env, BENCH_WITH: asked, BENCH_DOCUMENT: queryIn(of.request) },
      request,
    )
    return { ...silent, name }
  }
  return {
    ...of,
    name: `deployed-${of.name}`,
    title: `What people deploy: ${of.title}`,
    contenders: [
      variant(GATEWAY, ''),
      variant('rate limit', 'rateLimit'),
      variant('APQ', 'apq'),
      variant('documents by id', 'ids', byId),
      variant(EVERYTHING, 'auth ids cost rateLimit metrics log', signed(byId)),
      ...HOOKS.map((hook) => variant(`a plugin with ${hook}`, hook)),
    ],
    targets: [
      { of: 'rate limit', against: GATEWAY, atMost: 1.15 },
      { of: 'APQ', against: GATEWAY, atMost: 1.1 },
      { of: 'documents by id', against: GATEWAY, atMost: 1.1 },
      { of: EVERYTHING, against: GATEWAY, atMost: 1.5 },
      ...HOOKS.map((hook) => ({ of: `a plugin with ${hook}`, against: GATEWAY, atMost: 1.3 })),
    ],
  }
}

function queryIn({ body }: BenchRequest): string {
  return (JSON.parse(body) as { readonly query: string }).query
}

function withId(request: BenchRequest): BenchRequest {
  const { query, ...others } = JSON.parse(request.body) as { readonly query: string }
  const documentId = createHash('sha256').update(query).digest('hex')
  return { ...request, body: JSON.stringify({ documentId, ...others }) }
}

function signed(request: BenchRequest): BenchRequest {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 86_400
  const claims = { iss: 'bench', aud: 'bench', sub: 'ann', exp }
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  const signature = createHmac('sha256', SECRET).update(text).digest('base64url')
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${text}.${signature}` } }
}

const deployable = [hello, ...catalog.filter(({ name }) => name === 'grpc-1'), ...hits.slice(0, 1)]

export const deployed: readonly Scenario[] = deployable.map(scenario)
