import {
  Allowed,
  atLeast,
  flag,
  type KnownOptions,
  LIVE_OPTIONS,
  text,
  texts,
  textsByName,
  wrongOption,
} from '@vinyasa/core'
import type { ChannelOptions, TlsOptions } from '@vinyasa/grpc-transport'
import type { FieldAnnotation } from './contract/annotations.ts'
import type { BatchOptions, JoinOptions } from './contract/join-options.ts'
import { optionError } from './errors.ts'
import type { GrpcSourceOptions, InvalidationRule, MethodOptions, ReflectionOptions } from './options.ts'
import type { RetryOptions } from './runtime/call.ts'
import type { Endpoint } from './runtime/endpoint.ts'
import type { MetadataOptions } from './runtime/metadata.ts'

const TLS: KnownOptions<TlsOptions> = { ca: true, cert: true, key: true, serverName: text }

const ENDPOINT: KnownOptions<Exclude<Endpoint, string>> = { address: text, tls: TLS }

const CHANNEL: KnownOptions<ChannelOptions> = {
  keepalive: { timeMs: atLeast(0), timeoutMs: atLeast(0) },
  maxReceiveBytes: atLeast(0),
  maxSendBytes: atLeast(0),
  compression: true,
  maxConcurrentCalls: atLeast(1),
  maxConnections: atLeast(1),
  connectTimeoutMs: atLeast(0),
  lookupEveryMs: atLeast(0),
  raw: true,
}

const isValue = (one: unknown): boolean =>
  one === undefined || typeof one === 'string' || one instanceof Uint8Array

const metadataValues = new Allowed<NonNullable<MetadataOptions['static']>>(
  'an object whose values are strings, bytes, or lists of strings or bytes',
  (value) => typeof value === 'object' && value !== null && Object.values(value).flat().every(isValue),
  { isSecret: true },
)

const METADATA: KnownOptions<MetadataOptions> = { static: metadataValues, fromContext: true }

const REFLECTION: KnownOptions<ReflectionOptions> = {
  services: texts,
  metadata: textsByName,
  timeoutMs: atLeast(0),
}

const RETRY: KnownOptions<RetryOptions> = {
  maxRetries: atLeast(0),
  initialBackoffMs: atLeast(0),
  maxBackoffMs: atLeast(0),
}

const INVALIDATES: KnownOptions<InvalidationRule> = { entityType: text, operation: text, entityId: text }

const METHOD: KnownOptions<MethodOptions> = {
  schema: {
    type: true,
    name: true,
    request: { name: true, plucks: true },
    response: { required: true, pluck: true },
  },
  liveQuery: LIVE_OPTIONS,
  timeoutMs: atLeast(0),
  retry: { maxRetries: atLeast(0) },
  keepRequestsOpen: flag,
  invalidates: INVALIDATES,
  changes: texts,
  dependsOn: texts,
}

const FIELD: KnownOptions<FieldAnnotation> = {
  required: flag,
  name: text,
  default: text,
  omit: flag,
  resolver: text,
  external: flag,
  requires: text,
  provides: text,
  shareable: flag,
  description: text,
}

const BATCH: KnownOptions<BatchOptions> = {
  method: text,
  keys: text,
  parentKey: text,
  items: text,
  itemKey: text,
  many: flag,
  maxBatchSize: atLeast(1),
}

const JOIN: KnownOptions<Omit<JoinOptions, 'type' | 'field'>> = {
  method: text,
  request: textsByName,
  pluck: text,
  batch: BATCH,
  required: flag,
  description: text,
}

const SOURCE: KnownOptions<GrpcSourceOptions> = {
  name: text,
  endpoint: ENDPOINT,
  endpoints: { '*': ENDPOINT },
  tls: TLS,
  channel: CHANNEL,
  expose: true,
  methods: { '*': METHOD },
  joins: { ...JOIN, type: true, field: true },
  timeoutMs: atLeast(0),
  retry: RETRY,
  dedupe: true,
  forwardHeaders: texts,
  metadata: METADATA,
  plans: flag,
  onPlan: true,
  maxResponseItems: atLeast(0),
  fieldMasks: flag,
  federation: { entities: { '*': JOIN } },
  exposeErrors: true,
  bus: true,
  onReply: true,
  responseHeaders: texts,
  observe: true,
  watch: flag,
  transport: true,
  clock: true,
  random: true,
  logger: true,
  protoFiles: texts,
  protoText: textsByName,
  includePaths: texts,
  descriptorSet: true,
  reflection: REFLECTION,
  protoMetadata: true,
  fieldNames: true,
  int64: true,
  stripEnumPrefix: flag,
  hideUnspecified: flag,
  maps: true,
  oneofs: true,
  uploads: flag,
  typeNames: textsByName,
  typeNaming: true,
  fields: { '*': FIELD },
  prefix: { types: true, fields: true },
  rename: textsByName,
  hide: texts,
}

/** @throws GrpcSourceError for an option that nothing reads: a mistyped one may send more to a backend than was meant */
export function refuseWrongOptions(options: GrpcSourceOptions): void {
  const unknown = wrongOption(options, SOURCE)
  if (unknown === undefined) return
  throw optionError([], `grpc source "${options.name}": ${unknown}`)
}
