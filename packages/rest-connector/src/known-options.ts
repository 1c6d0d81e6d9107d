import { type KnownOptions, LIVE_OPTIONS, unknownOption } from '@vinyasa/base'
import type { BodyOptions, EncodingOptions } from './bodies/body-options.ts'
import type { ArgumentDefinition } from './declare/arguments.ts'
import type { Deprecable } from './declare/described.ts'
import type { JoinOptions, RestEndpoint } from './declare/endpoint-options.ts'
import type { EnvelopeOptions } from './declare/envelope-options.ts'
import { atPlace, RestConfigError } from './errors.ts'
import type { OpenApiImport } from './openapi/openapi-options.ts'
import type { RestConnectorOptions } from './options.ts'
import type { ParameterOptions, StyleOptions } from './parameters/parameter-options.ts'
import type { RetryOptions } from './retry/retry-policy.ts'

const RETRY: KnownOptions<RetryOptions> = {
  maxRetries: true,
  initialBackoffMs: true,
  maxBackoffMs: true,
  multiplier: true,
  retryStatuses: true,
}

const DEPRECABLE: KnownOptions<Deprecable> = { description: true, deprecated: true }
const ARGUMENT: KnownOptions<ArgumentDefinition> = { type: true, default: true, ...DEPRECABLE }

const STYLE: KnownOptions<StyleOptions> = { style: true, explode: true, allowReserved: true }
const PARAMETER: KnownOptions<ParameterOptions> = { name: true, in: true, arg: true, content: true, ...STYLE }
const ENCODING: KnownOptions<EncodingOptions> = { contentType: true, ...STYLE }

const BODY: KnownOptions<BodyOptions> = {
  arg: true,
  contentType: true,
  isBase64: true,
  encoding: { '*': ENCODING },
}

const ENVELOPE: KnownOptions<EnvelopeOptions> = {
  typeName: true,
  headers: { '*': { header: true, type: true, description: true } },
  next: true,
  links: { '*': { endpoint: true, args: true, description: true } },
}

const JOIN: KnownOptions<JoinOptions> = {
  type: true,
  field: true,
  args: true,
  batch: { key: true, many: true, maxBatchSize: true },
  description: true,
}

const ENDPOINT: KnownOptions<RestEndpoint> = {
  name: true,
  path: true,
  baseUrl: true,
  method: true,
  headers: true,
  accept: true,
  queryParams: true,
  queryArrayFormat: true,
  bodyTemplate: true,
  parameters: PARAMETER,
  body: BODY,
  responsePath: true,
  timeoutMs: true,
  ...DEPRECABLE,
  returnType: true,
  responseSchema: { typeName: true, fields: true, description: true },
  answer: true,
  envelope: ENVELOPE,
  asQuery: true,
  args: { '*': ARGUMENT },
  on: JOIN,
  rootField: true,
  invalidates: { entityType: true, operation: true, entityId: true },
  changes: true,
  dependsOn: true,
  liveQuery: LIVE_OPTIONS,
}

/** An import of OpenAPI has more than a connector reads: whoever spreads it need not pick. */
const CONNECTOR: KnownOptions<RestConnectorOptions & OpenApiImport> = {
  baseUrl: true,
  endpoints: true,
  types: true,
  typeNames: true,
  timeoutMs: true,
  totalTimeoutMs: true,
  defaultHeaders: true,
  forwardHeaders: true,
  retry: RETRY,
  noRetry: true,
  breaker: { threshold: true, halfOpenAfterMs: true },
  cacheSize: true,
  cacheMaxBytes: true,
  cacheTtlMs: true,
  interceptors: true,
  allowOriginChange: true,
  transformer: true,
  logBodies: { redact: true, force: true },
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
  prefix: { types: true, fields: true },
  rename: true,
  hide: true,
  findings: true,
  files: true,
  variables: true,
}

/** Throws {@link RestConfigError} for an option that nothing reads, of a connector and of its endpoints. */
export function refuseUnknownOptions(options: RestConnectorOptions): void {
  refuse(options, CONNECTOR)
  for (const endpoint of options.endpoints)
    atPlace(`endpoint "${endpoint.name}"`, () => refuse(endpoint, ENDPOINT))
}

function refuse(options: object, known: KnownOptions): void {
  const unknown = unknownOption(options, known)
  if (unknown !== undefined) throw new RestConfigError(unknown)
}
