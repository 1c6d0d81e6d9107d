import { unknownOption } from '@vinyasa/base'
import type { BodyOptions } from './bodies/body-options.ts'
import type { RestEndpoint } from './declare/endpoint-options.ts'
import { atPlace, RestConfigError } from './errors.ts'
import type { OpenApiImport } from './openapi/openapi-options.ts'
import type { RestConnectorOptions } from './options.ts'

/** An import of OpenAPI has more than a connector reads: whoever spreads it need not pick. */
const OF_CONNECTORS = {
  baseUrl: true,
  endpoints: true,
  types: true,
  timeoutMs: true,
  headersTimeoutMs: true,
  totalTimeoutMs: true,
  defaultHeaders: true,
  forwardHeaders: true,
  retry: true,
  noRetry: true,
  retryBudget: true,
  breaker: true,
  cacheSize: true,
  cacheMaxBytes: true,
  cacheTtlMs: true,
  interceptors: true,
  allowOriginChange: true,
  transformer: true,
  logBodies: true,
  exposeErrors: true,
  maxResponseBytes: true,
  maxResponseItems: true,
  maxHeldBytes: true,
  maxRequestsPerOperation: true,
  maxConnections: true,
  maxConnectionAgeMs: true,
  bus: true,
  plans: true,
  onPlan: true,
  observe: true,
  logger: true,
  env: true,
  clock: true,
  random: true,
  prefix: true,
  rename: true,
  hide: true,
  findings: true,
  files: true,
  variables: true,
} satisfies Readonly<Record<keyof RestConnectorOptions | keyof OpenApiImport, true>>

const OF_ENDPOINTS = {
  name: true,
  path: true,
  baseUrl: true,
  method: true,
  headers: true,
  accept: true,
  queryParams: true,
  queryArrayFormat: true,
  bodyTemplate: true,
  parameters: true,
  body: true,
  responsePath: true,
  timeoutMs: true,
  description: true,
  deprecated: true,
  returnType: true,
  responseSchema: true,
  answer: true,
  envelope: true,
  asQuery: true,
  args: true,
  on: true,
  rootField: true,
  invalidates: true,
  changes: true,
  dependsOn: true,
  liveQuery: true,
} satisfies Readonly<Record<keyof RestEndpoint, true>>

const OF_BODIES = {
  arg: true,
  contentType: true,
  isBase64: true,
  encoding: true,
} satisfies Readonly<Record<keyof BodyOptions, true>>

/** Throws {@link RestConfigError} for an option that nothing reads, of a connector, of its endpoints and of their bodies. */
export function refuseUnknownOptions(options: RestConnectorOptions): void {
  refuse(options, OF_CONNECTORS)
  for (const endpoint of options.endpoints)
    atPlace(`endpoint "${endpoint.name}"`, () => {
      refuse(endpoint, OF_ENDPOINTS)
      atPlace('body', () => refuse(endpoint.body ?? {}, OF_BODIES))
    })
}

function refuse(options: object, known: Readonly<Record<string, true>>): void {
  const unknown = unknownOption(options, known)
  if (unknown !== undefined) throw new RestConfigError(unknown)
}
