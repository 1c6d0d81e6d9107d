/** The part of a socket that the protocol uses. Each socket library has an adapter. */
export interface LiveSocket {
  /** The negotiated sub-protocol. */
  readonly protocol: string
  /** Returns the bytes of `send` calls that have not left this process. */
  bufferedBytes(): number
  /**
   * Sends one text message in one or two parts: the part of this receiver, and the part that receivers share, as UTF-8.
   * `onSent` is called when the message has left this process or is dropped. A closed socket ignores messages.
   */
  send(text: string, shared?: Buffer, onSent?: () => void): void
  close(code: number, reason: string): void
  /** Counts memory that is kept for the client until the socket closes. A negative number reduces it. */
  hold(bytes: number): void
}

export type OnConnectResult = boolean | Readonly<Record<string, unknown>> | void

/** The data that is kept of the upgrade request. */
export interface Handshake {
  readonly url: string
  /** Headers of the upgrade request. */
  readonly headers: Headers
  /** The client from `clientOf`. The socket uses its share of the event loop. */
  readonly client: string
  /** Whether the connection uses TLS in this process. */
  readonly encrypted: boolean
}

/** A socket after `connection_init`. */
export interface LiveConnection extends Omit<Handshake, 'encrypted'> {
  /** Payload of `connection_init`. */
  readonly connectionParams: Readonly<Record<string, unknown>> | undefined
}
