import { randomUUID } from 'node:crypto'
import type { GraphQLError } from 'graphql'
import { CloseCode, type Server } from 'graphql-ws'
import type { Clock, Turns } from '@vinyasa/base'
import { liveQueryLimit } from '../errors.ts'
import type { LiveQueryEngine } from '../execution/engine.ts'
import type { AskedOperation, OperationParams } from '../execution/passes.ts'
import type { UpdateFields } from '../store/update.ts'
import { formatError } from '../store/version.ts'
import type { LiveConnection, OnConnectResult } from './live-connection.ts'
import type { Handshake, LiveSocket } from './live-socket.ts'
import type { Repeatable } from './message-budgets.ts'
import { idOfServerMessage, MessageGate, readClientMessage, type ClientMessage } from './message-gate.ts'
import { SocketOperations } from './operations.ts'
import { ReadSocket } from './read-socket.ts'
import type { ResultStream } from './streams.ts'

export interface ConnectionsOptions {
  readonly engine: LiveQueryEngine
  readonly maxSubscriptionsPerSocket: number
  readonly updateFields: UpdateFields
  /** 0: wait for ever. */
  readonly connectionInitTimeoutMs: number
  /** `false` closes with 4403; an object is the payload of `connection_ack`. */
  readonly onConnect: ((connection: LiveConnection) => OnConnectResult | Promise<OnConnectResult>) | undefined
  /** The operation of a `subscribe`, as a request is made of it. */
  readonly toAsked: (connection: LiveConnection, params: OperationParams) => AskedOperation
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The parts that all connections share. */
export interface Shared extends ConnectionsOptions {
  /** The turns in which long results are written. */
  readonly slices: Turns
}

export interface Opening {
  readonly socket: LiveSocket
  readonly handshake: Handshake
  /** Whether the client may send one more message of a type. */
  readonly take: (what: Repeatable) => boolean
}

/** The protocol on one socket, from its opening to its end. */
export class OpenConnection {
  readonly #options: Shared
  readonly #handshake: Handshake
  readonly #take: Opening['take']
  readonly #socket: ReadSocket
  readonly #gate: MessageGate
  readonly #initTimer: unknown
  /** Tells graphql-ws that the socket is gone. */
  readonly #leave: (code: number, reason: string) => Promise<void>
  /** Gives a message to graphql-ws. */
  #handle: (text: string) => Promise<void> = async () => {}
  /** Undefined: nobody may have any yet. */
  #operations: SocketOperations | undefined
  #isInitialised = false

  constructor(server: Server<OpenConnection>, { socket, handshake, take }: Opening, options: Shared) {
    const { clock, connectionInitTimeoutMs } = options
    this.#options = options
    this.#handshake = handshake
    this.#take = take
    this.#socket = new ReadSocket(socket, () => this.#operations?.goOn())
    this.#gate = new MessageGate(
      (message, text) => this.#serve(message, text),
      (id) => this.#refuseDuplicate(id),
    )
    this.#leave = server.opened(
      {
        protocol: socket.protocol,
        send: (text) => this.#send(text),
        close: (code, reason) => this.#socket.close(code ?? 1000, reason ?? ''),
        onMessage: (listener) => void (this.#handle = listener),
      },
      this,
    )
    this.#initTimer =
      connectionInitTimeoutMs > 0
        ? clock.setTimeout(() => this.#closeUninitialised(), connectionInitTimeoutMs)
        : undefined
  }

  /** The client said `connection_init`; what to answer. */
  async initialise(connectionParams: LiveConnection['connectionParams']): Promise<OnConnectResult> {
    const { engine, maxSubscriptionsPerSocket, updateFields, onConnect, slices, toAsked } = this.#options
    this.#isInitialised = true
    const connection: LiveConnection = { ...this.#handshake, connectionParams }
    const answer = await onConnect?.(connection)
    this.#operations = new SocketOperations({
      engine,
      socket: this.#socket,
      work: engine.turns.openWork(connection.client),
      // Each socket has an id of its own among the sockets of all paths: they share one store.
      socketId: randomUUID(),
      maxSubscriptions: maxSubscriptionsPerSocket,
      updateFields,
      slices,
      toAsked: (params) => toAsked(connection, params),
    })
    return answer
  }

  /** The client said `subscribe`: what to send it, or why there is nothing. */
  start(id: string, params: OperationParams): Promise<ResultStream | readonly GraphQLError[]> | undefined {
    return this.#operations?.start(id, params)
  }

  closed(code: number, reason: string): void {
    const { clock, onError } = this.#options
    clock.clearTimeout(this.#initTimer)
    this.#gate.clear()
    this.#operations?.close()
    this.#leave(code, reason).catch(onError)
  }

  /** A text message arrived. Never rejects. */
  async receive(text: string): Promise<void> {
    const { maxSubscriptionsPerSocket, onError } = this.#options
    const message = readClientMessage(text)
    if (!this.#take(message?.type ?? 'unknown')) return undefined
    if (!message) return this.#socket.close(CloseCode.BadRequest, 'Invalid message received')
    const { type, id } = message
    // Before anything of it is kept or waited for: thousands may come at once.
    if (
      type === 'subscribe' &&
      id &&
      this.#operations &&
      this.#gate.isBeyond(maxSubscriptionsPerSocket, id)
    ) {
      const payload = [formatError(liveQueryLimit('of this socket', maxSubscriptionsPerSocket))]
      return this.#socket.send(JSON.stringify({ id, type: 'error', payload }))
    }
    try {
      await this.#gate.receive(message, text)
    } catch (error) {
      onError(error)
      this.#socket.close(CloseCode.InternalServerError, 'Internal server error')
    }
  }

  async #serve({ type, id }: ClientMessage, text: string): Promise<void> {
    if (type === 'complete' && id) this.#operations?.end(id)
    try {
      await this.#handle(text)
    } finally {
      if (type === 'subscribe' && id) this.#operations?.end(id)
    }
  }

  async #send(text: string): Promise<void> {
    const id = idOfServerMessage(text)
    if (id !== undefined && this.#gate.isCompleted(id)) return
    await new Promise<void>((resolve) => this.#socket.send(text, undefined, resolve))
  }

  #refuseDuplicate(id: string): void {
    // A close frame has no room for more.
    const shown = id.slice(0, 20)
    this.#socket.close(CloseCode.SubscriberAlreadyExists, `Subscriber for ${shown} already exists`)
  }

  #closeUninitialised(): void {
    if (this.#isInitialised) return
    this.#socket.close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout')
  }
}
