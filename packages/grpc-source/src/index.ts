// For users
export { createGrpcSource, type CallOptions, type GrpcSource } from './source.ts'
export type { EndpointHealth, HealthOptions, HealthStatus, SourceHealth } from './health.ts'
export { useGrpcSource, type GrpcSourcePlugin } from './plugin.ts'
export { GrpcSourceError, type Finding, type GrpcSourceErrorCode } from './errors.ts'
export type { GrpcSourceOptions, MethodOptions } from './options.ts'

// For integrators
export { mergeSchemas } from './schema/merge.ts'
