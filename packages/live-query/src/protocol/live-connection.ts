export type OnConnectResult = boolean | Readonly<Record<string, unknown>> | void

/** A socket that said `connection_init`. */
export interface LiveConnection {
  readonly url: string
  /** Headers of the request that opened the socket. */
  readonly headers: Headers
  /** The client that `clientOf` named. */
  readonly client: string
  /** Payload of `connection_init`. */
  readonly connectionParams: Readonly<Record<string, unknown>> | undefined
}
