import {
  above,
  type AnyKnownOptions,
  atLeast,
  between,
  flag,
  type KnownOptions,
  LIVE_OPTIONS,
  oneOf,
  optionsList,
  text,
  texts,
  textsByName,
  valuesByName,
  wholeAtLeast,
  wrongOption,
} from '@vinyasa/core'
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

const DEPRECABLE: KnownOptions<Deprecable> = { description: text, deprecated: text }
const ARGUMENT: KnownOptions<ArgumentDefinition> = { type: text, default: true, ...DEPRECABLE }

const STYLE: KnownOptions<StyleOptions> = { style: true, explode: flag, allowReserved: flag }
const PARAMETER: KnownOptions<ParameterOptions> = { name: text, in: true, arg: text, content: text, ...STYLE }
const ENCODING: KnownOptions<EncodingOptions> = { contentType: text, ...STYLE }

const BODY: KnownOptions<BodyOptions> = {
  arg: text,
  contentType: text,
  isBase64: flag,
  encoding: { '*': ENCODING },
}

const ENVELOPE: KnownOptions<EnvelopeOptions> = {
  typeName: text,
  headers: { '*': { header: true, type: true, description: true } },
  next: flag,
  links: { '*': { endpoint: true, args: true, description: true } },
}

const JOIN: KnownOptions<JoinOptions> = {
  type: text.required,
  field: text.required,
  args: textsByName.required,
  batch: { key: text.required, many: true, maxBatchSize: atLeast(1) },
  description: text,
}

/** A field, of an answer or of a type. It may be a text instead, that is its type. */
const FIELD: AnyKnownOptions = { type: text.required, key: text, '*': true }

/** What depends on the kind is read with it. */
const TYPE: AnyKnownOptions = {
  kind: oneOf('object', 'union', 'interface', 'enum', 'scalar', 'entry', 'input', 'input entry').required,
  fields: { '*': FIELD },
  values: { '*': { value: true, '*': true } },
  members: { '*': { required: texts, constants: { '*': true } } },
  '*': true,
}

const ENDPOINT: KnownOptions<RestEndpoint> = {
  name: text.required,
  path: text.required,
  baseUrl: text,
  method: true,
  headers: valuesByName,
  accept: text,
  queryParams: valuesByName,
  queryArrayFormat: true,
  bodyTemplate: true,
  parameters: PARAMETER,
  body: BODY,
  responsePath: text,
  timeoutMs: above(0),
  ...DEPRECABLE,
  returnType: text,
  listOfOne: texts,
  responseSchema: { typeName: text.required, fields: { '*': FIELD }, description: text },
  answer: true,
  envelope: ENVELOPE,
  asQuery: flag,
  args: { '*': ARGUMENT },
  on: JOIN,
  rootField: flag,
  invalidates: { entityType: text.required, operation: text, entityId: text },
  changes: texts,
  dependsOn: texts,
  liveQuery: LIVE_OPTIONS,
}

/** An import of OpenAPI has more than a connector reads: whoever spreads it need not pick. */
const CONNECTOR: KnownOptions<RestConnectorOptions & OpenApiImport> = {
  baseUrl: text,
  endpoints: optionsList.required,
  types: { '*': TYPE },
  typeNames: textsByName,
  timeoutMs: above(0),
  totalTimeoutMs: above(0),
  defaultHeaders: valuesByName,
  forwardHeaders: texts,
  retry: RETRY,
  noRetry: flag,
  breaker: { threshold: between(0, 1), halfOpenAfterMs: atLeast(0) },
  cacheSize: wholeAtLeast(0),
  cacheMaxBytes: wholeAtLeast(0),
  cacheTtlMs: atLeast(0),
  limitsResponseCache: flag,
  interceptors: true,
  allowOriginChange: flag,
  transformer: true,
  logBodies: { redact: true, force: true },
  exposeErrors: flag,
  int64: true,
  maxResponseBytes: above(0),
  maxResponseItems: above(0),
  maxRequestsPerOperation: atLeast(0),
  maxConnections: wholeAtLeast(1),
  maxConnectionAgeMs: atLeast(0),
  bus: true,
  plans: flag,
  onPlan: true,
  observe: true,
  logger: true,
  env: textsByName,
  clock: true,
  random: true,
  prefix: { types: true, fields: true },
  rename: textsByName,
  hide: texts,
  findings: true,
  files: texts,
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
