// For users
export { createGrpcSource, type CallOptions, type GrpcSource } from './source.ts'
export type { EndpointHealth, HealthOptions, HealthStatus, SourceHealth } from './health.ts'
export type { TypedMethod } from './method-runtime.ts'
export { useGrpcSource, type GrpcSourcePlugin } from './plugin.ts'
export { GrpcSourceError, type Finding, type GrpcSourceErrorCode } from './errors.ts'
export type { BatchOptions, JoinOptions } from './join-options.ts'
export type { Endpoint, GrpcSourceOptions, InvalidationRule, MethodOptions, RetryOptions } from './options.ts'
export type { PlanEvent } from '@vinyasa/source-kit'
export type { CallObserver, ObservedCall, ObservedEnd } from './runtime/call.ts'
export type { ChannelOptions, TlsOptions } from './runtime/endpoint.ts'
export type { MetadataOptions } from './runtime/metadata.ts'

// For integrators
export type { Clock, Logger, ResolvedEndpoint } from './options.ts'
export { GrpcCallError, type StatusName } from './runtime/status.ts'
export type { MetadataEntries, Transport, TransportCall } from './runtime/transport.ts'
