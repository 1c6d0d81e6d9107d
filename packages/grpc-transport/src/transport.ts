import type { HeldReply } from '@vinyasa/base'

/** Metadata as it goes out and comes in: names in lower case, `-bin` names with bytes. */
export type MetadataEntries = readonly (readonly [name: string, value: string | Uint8Array])[]

/** `Signal`: what cancels it; our own transports also take an `Ending`, which costs less than a signal. */
export interface TransportCall<Signal = AbortSignal> {
  /** `/package.Service/Method` */
  readonly path: string
  readonly metadata: MetadataEntries
  /** Milliseconds the call may take; undefined: no limit. Sent as `grpc-timeout`, unless it is over 24 days. */
  readonly timeoutMs: number | undefined
  /** Cancels the call. */
  readonly signal: Signal | undefined
  /**
   * The GraphQL context of the operation that asks, or the `Callers` of several: calls that wait take turns by whose they are.
   * Default: nobody's.
   */
  readonly caller?: unknown
  /** Receives the memory of a long reply, to leave it once the reply was read. Default: leaves it immediately. */
  readonly keepReply?: ((held: HeldReply) => void) | undefined
  /** Told of the metadata before the reply's first message. Exceptions are ignored. */
  readonly onHeaders?: ((metadata: MetadataEntries) => void) | undefined
  /** Told of the metadata with which the server ends the call, whatever its status; the only ones of a reply without messages. Exceptions are ignored. */
  readonly onTrailers?: ((metadata: MetadataEntries) => void) | undefined
}

/**
 * Carries messages to one endpoint. It knows bytes, not protobuf. Connects on the first call.
 * Every failure is a `GrpcCallError`.
 */
export interface Transport<Signal = AbortSignal> {
  unary(call: TransportCall<Signal>, request: Uint8Array): Promise<Uint8Array>
  /**
   * Server and duplex streaming. Messages are read from the socket only as they are pulled.
   * `return()` cancels at once, even while a `next()` waits.
   */
  stream(
    call: TransportCall<Signal>,
    requests: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): AsyncIterableIterator<Uint8Array>
  close(): void
}
