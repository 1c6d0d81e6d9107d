/** Thrown for an invalid address, certificate or option. The message explains the fix. */
export class GrpcTransportError extends Error {
  override readonly name = 'GrpcTransportError'
  readonly code = 'GRPC_TRANSPORT_OPTIONS'
}
