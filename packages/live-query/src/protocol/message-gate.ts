import { parsePeerJson } from '@vinyasa/base'

/** The parts of a client's message that the gate has to know. `undefined` stands for any other message. */
export interface ClientMessage {
  readonly type: ClientMessageType
  readonly id: string | undefined
}

const CLIENT_TYPES = ['connection_init', 'ping', 'pong', 'subscribe', 'complete'] as const

type ClientMessageType = (typeof CLIENT_TYPES)[number]

export function readClientMessage(text: string): ClientMessage | undefined {
  let message: unknown
  try {
    message = parsePeerJson(text)
  } catch {
    return undefined
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined
  const { type: given, id } = message as { readonly type?: unknown; readonly id?: unknown }
  const type = CLIENT_TYPES.find((one) => one === given)
  if (!type) return undefined
  return { type, id: typeof id === 'string' ? id : undefined }
}

/** The id with which graphql-ws begins each message of an operation. */
const ID_IN_FRONT = /^\{"id":("(?:[^"\\]|\\.)*")/

export function idOfServerMessage(text: string): string | undefined {
  const json = ID_IN_FRONT.exec(text)?.[1]
  return json === undefined ? undefined : (JSON.parse(json) as string)
}

/**
 * Keeps operations of one id apart: a `subscribe` that follows the `complete` of the same id is held until the first
 * operation has really ended. Without it the end of the first would forget the second. One at most is held: its own
 * `complete` takes it away, and another `subscribe` is the protocol's duplicate.
 */
export class MessageGate {
  readonly #handle: (message: ClientMessage, text: string) => Promise<void>
  readonly #onDuplicate: (id: string) => void
  /** Operations under way by id: `completed` once the client said so. */
  readonly #running = new Map<string, { completed: boolean; held: string | undefined }>()
  #completed = 0

  constructor(
    handle: (message: ClientMessage, text: string) => Promise<void>,
    onDuplicate: (id: string) => void,
  ) {
    this.#handle = handle
    this.#onDuplicate = onDuplicate
  }

  /**
   * Whether an operation of this id would be one too many; an id that is under way is the protocol's business. Those that
   * the client has completed and that have not ended may be as many again.
   */
  isBeyond(limit: number, id: string): boolean {
    if (this.#running.size < limit || this.#running.has(id)) return false
    return this.#running.size - this.#completed >= limit || this.#running.size >= 2 * limit
  }

  /** Whether the client has ended the operation of this id, and no other has begun under it: it may say nothing more. */
  isCompleted(id: string): boolean {
    return this.#running.get(id)?.completed === true
  }

  async receive(message: ClientMessage, text: string): Promise<void> {
    const { type, id } = message
    const running = id === undefined ? undefined : this.#running.get(id)
    if (running?.completed && type === 'complete') return void (running.held = undefined)
    if (running?.completed && type === 'subscribe' && id !== undefined) {
      if (running.held !== undefined) return this.#onDuplicate(id)
      return void (running.held = text)
    }
    if (type === 'complete' && running) {
      running.completed = true
      this.#completed++
    }
    if (type !== 'subscribe' || id === undefined || running) return this.#handle(message, text)
    const operation = { completed: false, held: undefined as string | undefined }
    this.#running.set(id, operation)
    try {
      await this.#handle(message, text)
    } finally {
      this.#running.delete(id)
      if (operation.completed) this.#completed--
      if (operation.held !== undefined) await this.receive({ type: 'subscribe', id }, operation.held)
    }
  }

  /** The socket is gone: what is held will not be served. */
  clear(): void {
    for (const operation of this.#running.values()) operation.held = undefined
  }
}
