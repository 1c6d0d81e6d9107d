// For users.
export { createHttp2Transport } from './grpc/transport.ts'
export { GrpcTransportError } from './errors.ts'
export type { ChannelOptions, ResolvedEndpoint, TlsOptions } from './endpoint.ts'
export { GrpcCallError, type StatusName } from './status.ts'
export type { MetadataEntries, Transport, TransportCall } from './transport.ts'

// For integrators: what another transport of the same interface is made of.
export { toReplyMetadata } from './reply-metadata.ts'
export { createTlsContext } from './tls-context.ts'
export { LONGEST_TIMEOUT_MS } from './grpc/status.ts'
export { STATUS_NAMES } from './status.ts'
