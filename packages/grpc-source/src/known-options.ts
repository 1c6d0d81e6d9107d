import { unknownOption } from '@vinyasa/base'
import { GrpcSourceError } from './errors.ts'
import type { GrpcSourceOptions, InvalidationRule, MethodOptions } from './options.ts'
import type { RetryOptions } from './runtime/call.ts'
import type { MetadataOptions } from './runtime/metadata.ts'

const OF_SOURCES = {
  name: true,
  endpoint: true,
  endpoints: true,
  tls: true,
  channel: true,
  expose: true,
  methods: true,
  joins: true,
  timeoutMs: true,
  retry: true,
  dedupe: true,
  forwardHeaders: true,
  metadata: true,
  plans: true,
  onPlan: true,
  maxResponseItems: true,
  fieldMasks: true,
  federation: true,
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
  onError: true,
  protoFiles: true,
  protoText: true,
  includePaths: true,
  descriptorSet: true,
  reflection: true,
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
  fields: true,
  prefix: true,
  rename: true,
  hide: true,
} satisfies Readonly<Record<keyof GrpcSourceOptions, true>>

const OF_METHODS = {
  schema: true,
  liveQuery: true,
  timeoutMs: true,
  retry: true,
  invalidates: true,
  changes: true,
  dependsOn: true,
} satisfies Readonly<Record<keyof MethodOptions, true>>

const OF_INVALIDATES = {
  entityType: true,
  operation: true,
  entityId: true,
} satisfies Readonly<Record<keyof InvalidationRule, true>>

const OF_METADATA = {
  static: true,
  fromContext: true,
} satisfies Readonly<Record<keyof MetadataOptions, true>>

const OF_RETRY = {
  maxRetries: true,
  initialBackoffMs: true,
  maxBackoffMs: true,
} satisfies Readonly<Record<keyof RetryOptions, true>>

/** @throws GrpcSourceError for an option that nothing reads: a mistyped one may send more to a backend than was meant */
export function refuseUnknownOptions(options: GrpcSourceOptions): void {
  const { name, metadata, retry, methods = {} } = options
  const refuse = (place: string, given: object | undefined, known: Readonly<Record<string, true>>): void => {
    const unknown = unknownOption(given ?? {}, known)
    if (unknown === undefined) return
    throw new GrpcSourceError('GRPC_SOURCE_OPTIONS', `grpc source "${name}"${place}: ${unknown}`)
  }
  refuse('', options, OF_SOURCES)
  refuse(', metadata', metadata, OF_METADATA)
  refuse(', retry', retry, OF_RETRY)
  for (const [id, method] of Object.entries(methods)) {
    refuse(`, methods["${id}"]`, method, OF_METHODS)
    refuse(`, methods["${id}"].retry`, method.retry, OF_RETRY)
    for (const rule of [method.invalidates || []].flat())
      refuse(`, methods["${id}"].invalidates`, rule, OF_INVALIDATES)
  }
}
