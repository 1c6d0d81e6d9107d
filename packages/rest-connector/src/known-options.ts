import {
  above,
  type AnyKnownOptions,
  atLeast,
  between,
  type KnownOptions,
  LIVE_OPTIONS,
  wholeAtLeast,
  wrongOption,
} from '@vinyasa/base'
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
  maxRetries: wholeAtLeast(0),
  initialBackoffMs: atLeast(0),
  maxBackoffMs: atLeast(0),
  multiplier: atLeast(1),
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
  batch: { key: true, many: true, maxBatchSize: atLeast(1) },
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
  timeoutMs: above(0),
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
  timeoutMs: above(0),
  totalTimeoutMs: above(0),
  defaultHeaders: true,
  forwardHeaders: true,
  retry: RETRY,
  noRetry: true,
  breaker: { threshold: between(0, 1), halfOpenAfterMs: atLeast(0) },
  cacheSize: wholeAtLeast(0),
  cacheMaxBytes: wholeAtLeast(0),
  cacheTtlMs: atLeast(0),
  interceptors: true,
  allowOriginChange: true,
  transformer: true,
  logBodies: { redact: true, force: true },
  exposeErrors: true,
  int64: true,
  maxResponseBytes: above(0),
  maxResponseItems: above(0),
  maxHeldBytes: above(0),
  maxRequestsPerOperation: atLeast(0),
  maxConnections: wholeAtLeast(1),
  maxConnectionAgeMs: atLeast(0),
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
export function refuseWrongOptions(options: RestConnectorOptions): void {
  refuse(options, CONNECTOR)
  for (const [index, endpoint] of options.endpoints.entries())
    atPlace(['endpoints', index], () => refuse(endpoint, ENDPOINT), `endpoint "${endpoint.name}"`)
}

function refuse(options: object, known: AnyKnownOptions): void {
  const unknown = wrongOption(options, known)
  if (unknown !== undefined) throw new RestConfigError(unknown)
}
