import { isRecord, parsePeerJson } from '@vinyasa/core'
import type { OperationParams } from '../execution/passes.ts'

export const SUB_PROTOCOL = 'graphql-transport-ws'

/** Close codes of graphql-transport-ws. */
export const CLOSE = {
  badRequest: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  wrongProtocol: 4406,
  initTimeout: 4408,
  idInUse: 4409,
  secondInit: 4429,
  serverFault: 4500,
} as const

type Payload = Readonly<Record<string, unknown>>

type ClientMessage =
  | { readonly type: 'connection_init' | 'ping' | 'pong'; readonly payload: Payload | undefined }
  | { readonly type: 'subscribe'; readonly id: string; readonly payload: OperationParams }
  | { readonly type: 'complete'; readonly id: string }

/** Ids are stored several times while their operations run. */
const MAX_ID_CHARACTERS = 1_000

/** Returns `undefined` unless the text is a message that clients can send. */
export function readClientMessage(text: string): ClientMessage | undefined {
  let message: unknown
  try {
    message = parsePeerJson(text)
  } catch {
    return undefined
  }
  if (!isRecord(message)) return undefined
  const { type, id, payload } = message
  switch (type) {
    case 'connection_init':
    case 'ping':
    case 'pong':
      return isOptional(payload, isRecord) ? { type, payload: payload ?? undefined } : undefined
    case 'complete':
      return isId(id) ? { type, id } : undefined
    case 'subscribe':
      return isId(id) && isOperation(payload) ? { type, id, payload } : undefined
    default:
      return undefined
  }
}

function isOperation(payload: unknown): payload is OperationParams {
  if (!isRecord(payload)) return false
  const { query, operationName, variables, extensions } = payload
  // As over HTTP, an id can identify the document if `query` is missing.
  return (
    [query, operationName].every((value) => isOptional(value, isText)) &&
    [variables, extensions].every((value) => isOptional(value, isRecord))
  )
}

function isOptional<T>(value: unknown, is: (value: unknown) => value is T): value is T | null | undefined {
  return value === null || value === undefined || is(value)
}

function isId(value: unknown): value is string {
  return isText(value) && value !== '' && value.length <= MAX_ID_CHARACTERS
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/**
 * Limits per second for messages that a WebSocket peer can repeat. They exceed the needs of regular clients, and cost
 * this process a few hundredths of a second at most. A socket over a limit is closed with 1008.
 */
export const MESSAGE_BUDGETS = {
  /** Messages of graphql-transport-ws. A second `connection_init` is a separate error. */
  connection_init: 2,
  ping: 1_000,
  pong: 1_000,
  /** A client with the maximum number of operations can restart all of them several times. */
  subscribe: 10_000,
  complete: 10_000,
  /** A message that closes the socket (4400) can arrive again until the close has arrived. */
  unknown: 1_000,
  binary: 1_000,
  /** Frames of the WebSocket protocol. The first close frame is also the last. */
  'ping frame': 1_000,
  'pong frame': 1_000,
} as const

export type Repeatable = keyof typeof MESSAGE_BUDGETS

/**
 * Maximum number of frames of one message. A client that sends text in pieces of one kilobyte needs a quarter of it.
 */
export const MAX_FRAGMENTS = 1_024

const SECOND_MS = 1_000

/** Counts the messages of one socket. The returned function returns false if the socket exceeds its limit in this second. */
export function createMessageBudgets(now: () => number): (what: Repeatable) => boolean {
  const counts = new Map<Repeatable, number>()
  let since = -Infinity
  return (what) => {
    const time = now()
    if (time - since >= SECOND_MS) {
      since = time
      counts.clear()
    }
    const count = (counts.get(what) ?? 0) + 1
    counts.set(what, count)
    return count <= MESSAGE_BUDGETS[what]
  }
}

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
