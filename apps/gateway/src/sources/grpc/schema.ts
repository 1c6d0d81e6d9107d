import { z } from 'zod'
import {
  count,
  functionValue,
  headerName,
  liveOptions,
  milliseconds,
  sourceNames,
  textValues,
  typeNames,
  type OptionsOf,
} from '../../option-values.ts'
import type { GrpcSourceConfig } from '../types.ts'

const bytes = z.union([z.string(), z.instanceof(Uint8Array)])

const tls = z.union([
  z.boolean(),
  z.strictObject({
    ca: bytes.optional(),
    cert: bytes.optional(),
    key: bytes.optional(),
    serverName: z.string().optional(),
  }),
])

const endpoint = z.union([z.string(), z.strictObject({ address: z.string(), tls: tls.optional() })])

const metadataValues = z.record(
  z.string(),
  z.union([z.string(), z.array(z.string()), z.instanceof(Uint8Array)]),
)

const schemaAnnotation = z.strictObject({
  type: z.enum(['QUERY', 'MUTATION', 'RESOLVER', 'SUBSCRIPTION']).optional(),
  name: z.string().optional(),
  request: z.strictObject({ name: z.string().optional(), plucks: z.array(z.string()).optional() }).optional(),
  response: z.strictObject({ required: z.boolean().optional(), pluck: z.string().optional() }).optional(),
})

const fieldAnnotation = z.strictObject({
  required: z.boolean().optional(),
  name: z.string().optional(),
  default: z.string().optional(),
  omit: z.boolean().optional(),
  resolver: z.string().optional(),
  external: z.boolean().optional(),
  requires: z.string().optional(),
  provides: z.string().optional(),
  shareable: z.boolean().optional(),
  description: z.string().optional(),
})

const invalidation = z.strictObject({
  entityType: z.string(),
  operation: z.string().optional(),
  entityId: z.string().optional(),
})

const method = z.strictObject({
  schema: z.union([z.literal(false), schemaAnnotation]).optional(),
  liveQuery: liveOptions.optional(),
  timeoutMs: milliseconds.optional(),
  retry: z.strictObject({ maxRetries: count.optional() }).optional(),
  keepRequestsOpen: z.boolean().optional(),
  invalidates: z.union([z.literal(false), invalidation, z.array(invalidation)]).optional(),
  changes: typeNames.optional(),
  dependsOn: typeNames.optional(),
})

const join = {
  method: z.string().optional(),
  request: textValues.optional(),
  pluck: z.string().optional(),
  batch: z
    .strictObject({
      method: z.string(),
      keys: z.string(),
      parentKey: z.string().optional(),
      items: z.string(),
      itemKey: z.string().optional(),
      many: z.boolean().optional(),
      maxBatchSize: count.min(1).optional(),
    })
    .optional(),
  required: z.boolean().optional(),
  description: z.string().optional(),
}

/** One entry of the config's `grpc`. */
export const grpcSource: z.ZodType<GrpcSourceConfig> = z.strictObject({
  protoFiles: z.array(z.string()).optional(),
  protoText: textValues.optional(),
  includePaths: z.array(z.string()).optional(),
  descriptorSet: bytes.optional(),
  reflection: z
    .union([
      z.boolean(),
      z.strictObject({
        services: z.array(z.string()).optional(),
        metadata: textValues.optional(),
        timeoutMs: milliseconds.optional(),
      }),
    ])
    .optional(),
  protoMetadata: z.array(z.unknown()).optional(),
  fieldNames: z.enum(['camel', 'proto']).optional(),
  int64: z.enum(['string', 'number-when-safe', 'bigint-scalar']).optional(),
  stripEnumPrefix: z.boolean().optional(),
  hideUnspecified: z.boolean().optional(),
  maps: z.enum(['entries', 'json']).optional(),
  oneofs: z.enum(['fields', 'union']).optional(),
  uploads: z.boolean().optional(),
  typeNames: textValues.optional(),
  ...sourceNames,
  typeNaming: z.enum(['short', 'qualified']).optional(),
  fields: z.record(z.string(), fieldAnnotation).optional(),
  endpoint: endpoint.optional(),
  endpoints: z.record(z.string(), endpoint).optional(),
  tls: tls.optional(),
  channel: z
    .strictObject({
      keepalive: z.strictObject({ timeMs: milliseconds, timeoutMs: milliseconds }).optional(),
      maxReceiveBytes: count.optional(),
      maxSendBytes: count.optional(),
      compression: z.enum(['gzip', 'deflate']).optional(),
      maxConcurrentCalls: count.min(1).optional(),
      maxConnections: count.min(1).optional(),
      connectTimeoutMs: milliseconds.optional(),
      lookupEveryMs: milliseconds.optional(),
      raw: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
    })
    .optional(),
  expose: z.union([z.enum(['annotated', 'all']), z.array(z.string())]).optional(),
  methods: z.record(z.string(), method).optional(),
  joins: z.array(z.strictObject({ type: z.string(), field: z.string(), ...join })).optional(),
  timeoutMs: milliseconds.optional(),
  retry: z
    .strictObject({
      maxRetries: count.optional(),
      initialBackoffMs: milliseconds.optional(),
      maxBackoffMs: milliseconds.optional(),
    })
    .optional(),
  dedupe: z.union([z.literal(false), z.enum(['operation', 'inflight'])]).optional(),
  forwardHeaders: z.array(headerName).optional(),
  metadata: z
    .strictObject({
      static: metadataValues.optional(),
      fromContext: functionValue().optional(),
    })
    .optional(),
  fieldMasks: z.boolean().optional(),
  exposeErrors: z.union([z.boolean(), z.literal('caller')]).optional(),
  onReply: functionValue().optional(),
  responseHeaders: z.array(z.string()).optional(),
  transport: z.union([z.enum(['http2', 'grpc-js']), functionValue()]).optional(),
  plans: z.boolean().optional(),
  maxResponseItems: count.optional(),
  required: z.boolean().optional(),
} satisfies OptionsOf<GrpcSourceConfig>) as z.ZodType<GrpcSourceConfig>
