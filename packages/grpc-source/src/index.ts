// For users
export { createGrpcSource, type GrpcSource } from './source.ts'
export type { SourceHealth } from './health.ts'
export { useGrpcSource, type GrpcSourcePlugin } from './plugin.ts'
export { GrpcSourceError } from './errors.ts'
export type { JoinOptions } from './contract/join-options.ts'
export type { GrpcSourceOptions, MethodOptions } from './options.ts'
export type { CallObserver, OnReply } from './runtime/call.ts'

// For integrators
export { GrpcCallError } from '@vinyasa/grpc-transport'
