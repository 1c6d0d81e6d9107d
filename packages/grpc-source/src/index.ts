// For users
export { createGrpcSource, type GrpcSource } from './source.ts'
export { useGrpcSource } from './plugin.ts'
export { GrpcSourceError } from './errors.ts'
export type { GrpcSourceOptions } from './options.ts'
