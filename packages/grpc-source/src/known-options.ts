import { atLeast, type KnownOptions, LIVE_OPTIONS, wrongOption } from '@vinyasa/base'
import type { ChannelOptions, TlsOptions } from '@vinyasa/grpc-transport'
import type { FieldAnnotation } from './contract/annotations.ts'
import type { BatchOptions, JoinOptions } from './contract/join-options.ts'
import { optionError } from './errors.ts'
import type { GrpcSourceOptions, InvalidationRule, MethodOptions, ReflectionOptions } from './options.ts'
import type { RetryOptions } from './runtime/call.ts'
import type { Endpoint } from './runtime/endpoint.ts'
import type { MetadataOptions } from './runtime/metadata.ts'

const TLS: KnownOptions<TlsOptions> = { ca: true, cert: true, key: true, serverName: true }

const ENDPOINT: KnownOptions<Exclude<Endpoint, string>> = { address: true, tls: TLS }

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

const METADATA: KnownOptions<MetadataOptions> = { static: true, fromContext: true }

const REFLECTION: KnownOptions<ReflectionOptions> = { services: true, metadata: true, timeoutMs: atLeast(0) }

const RETRY: KnownOptions<RetryOptions> = {
  maxRetries: atLeast(0),
  initialBackoffMs: atLeast(0),
  maxBackoffMs: atLeast(0),
}

const INVALIDATES: KnownOptions<InvalidationRule> = { entityType: true, operation: true, entityId: true }

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
  keepRequestsOpen: true,
  invalidates: INVALIDATES,
  changes: true,
  dependsOn: true,
}

const FIELD: KnownOptions<FieldAnnotation> = {
  required: true,
  name: true,
  default: true,
  omit: true,
  resolver: true,
  external: true,
  requires: true,
  provides: true,
  shareable: true,
  description: true,
}

const BATCH: KnownOptions<BatchOptions> = {
  method: true,
  keys: true,
  parentKey: true,
  items: true,
  itemKey: true,
  many: true,
  maxBatchSize: atLeast(1),
}

const JOIN: KnownOptions<Omit<JoinOptions, 'type' | 'field'>> = {
  method: true,
  request: true,
  pluck: true,
  batch: BATCH,
  required: true,
  description: true,
}

const SOURCE: KnownOptions<GrpcSourceOptions> = {
  name: true,
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
  forwardHeaders: true,
  metadata: METADATA,
  plans: true,
  onPlan: true,
  maxResponseItems: atLeast(0),
  fieldMasks: true,
  federation: { entities: { '*': JOIN } },
  exposeErrors: true,
  bus: true,
  onReply: true,
  responseHeaders: true,
  observe: true,
  watch: true,
  transport: true,
  clock: true,
  random: true,
  logger: true,
  protoFiles: true,
  protoText: true,
  includePaths: true,
  descriptorSet: true,
  reflection: REFLECTION,
  protoMetadata: true,
  fieldNames: true,
  int64: true,
  stripEnumPrefix: true,
  hideUnspecified: true,
  maps: true,
  oneofs: true,
  uploads: true,
  typeNames: true,
  typeNaming: true,
  fields: { '*': FIELD },
  prefix: { types: true, fields: true },
  rename: true,
  hide: true,
}

/** @throws GrpcSourceError for an option that nothing reads: a mistyped one may send more to a backend than was meant */
export function refuseWrongOptions(options: GrpcSourceOptions): void {
  const unknown = wrongOption(options, SOURCE)
  if (unknown === undefined) return
  throw optionError([], `grpc source "${options.name}": ${unknown}`)
}
