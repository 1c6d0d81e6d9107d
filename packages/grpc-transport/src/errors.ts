/** An address, a certificate or an option that no transport can be made of; the message says how to mend it. */
export class GrpcTransportError extends Error {
  override readonly name = 'GrpcTransportError'
  readonly code = 'GRPC_TRANSPORT_OPTIONS'
}
