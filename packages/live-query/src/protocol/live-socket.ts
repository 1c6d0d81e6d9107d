/** The part of a socket that the protocol needs. There is one adapter for each socket library. */
export interface LiveSocket {
  /** The sub-protocol agreed on. */
  readonly protocol: string
  /** Bytes handed to `send` that have not left this process. */
  bufferedBytes(): number
  /**
   * One message of text, in one part or in two: what is the receiver's own, then what it shares with others, as UTF-8.
   * `onSent` is called once it has left this process, or never will. A closed socket takes nothing.
   */
  send(text: string, shared?: Buffer, onSent?: () => void): void
  close(code: number, reason: string): void
  /** Counts memory that is kept for the client until the socket closes, or less of it. */
  hold(bytes: number): void
}

export type OnConnectResult = boolean | Readonly<Record<string, unknown>> | void

/** The facts that are kept of the request that opened the socket. */
export interface Handshake {
  readonly url: string
  /** Headers of the request that opened the socket. */
  readonly headers: Headers
  /** The client that `clientOf` named. The socket takes its share of the event loop. */
  readonly client: string
  /** Whether it came over TLS to this very process. */
  readonly encrypted: boolean
}

/** A socket that said `connection_init`. */
export interface LiveConnection extends Omit<Handshake, 'encrypted'> {
  /** Payload of `connection_init`. */
  readonly connectionParams: Readonly<Record<string, unknown>> | undefined
}
