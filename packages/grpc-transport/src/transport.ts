import type { HeldReply } from '@vinyasa/core'

/** Metadata of requests and replies: names in lower case, and bytes for `-bin` names. */
export type MetadataEntries = readonly (readonly [name: string, value: string | Uint8Array])[]

/** A call. `Signal` is the type that cancels it. Vinyasa's transports also accept an `Ending`, which is cheaper than a signal. */
export interface TransportCall<Signal = AbortSignal> {
  /** `/package.Service/Method` */
  readonly path: string
  readonly metadata: MetadataEntries
  /** Timeout of the call in milliseconds, or undefined for no limit. It is sent as `grpc-timeout`, unless it is over 24 days. */
  readonly timeoutMs: number | undefined
  /** Signal that cancels the call. */
  readonly signal: Signal | undefined
  /**
   * The GraphQL context of the operation, or the `Callers` of several operations. It identifies the client for which
   * waiting calls take turns. Default: no client.
   */
  readonly caller?: unknown
  /** Receives the memory of a long reply, and must release it after the reply was read. Default: it is released immediately. */
  readonly keepReply?: ((held: HeldReply) => void) | undefined
  /** Called with the metadata before the reply's first message. Exceptions are ignored. */
  readonly onHeaders?: ((metadata: MetadataEntries) => void) | undefined
  /**
   * Called with the metadata with which the server ends the call, for every status. A reply without messages has no
   * other metadata. Exceptions are ignored.
   */
  readonly onTrailers?: ((metadata: MetadataEntries) => void) | undefined
}

/**
 * Sends messages to one endpoint as bytes, without protobuf. It connects on the first call. Every failure is a
 * `GrpcCallError`.
 */
export interface Transport<Signal = AbortSignal> {
  unary(call: TransportCall<Signal>, request: Uint8Array): Promise<Uint8Array>
  /**
   * Starts a server or bidirectional stream. Messages are read from the socket only when the consumer pulls.
   * `return()` cancels immediately, even while a `next()` is pending.
   */
  stream(
    call: TransportCall<Signal>,
    requests: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): AsyncIterableIterator<Uint8Array>
  close(): void
}
