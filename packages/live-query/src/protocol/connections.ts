import { randomUUID } from 'node:crypto'
import { type Clock, createTurns, heldBytes, isRecord, type Turns } from '@vinyasa/base'
import { liveQueryLimit } from '../errors.ts'
import type { LiveQueryEngine } from '../execution/engine.ts'
import type { AskedOperation, OperationParams } from '../execution/passes.ts'
import type { UpdateFields } from '../store/update.ts'
import { formatError } from '../store/version.ts'
import type { Handshake, LiveConnection, LiveSocket, OnConnectResult } from './live-socket.ts'
import type { Repeatable } from './message-budgets.ts'
import { CLOSE, readClientMessage, SUB_PROTOCOL } from './messages.ts'
import { SocketOperation, type SocketOperationOptions } from './operation.ts'
import { ReadSocket } from './read-socket.ts'

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

export interface Opening {
  readonly socket: LiveSocket
  readonly handshake: Handshake
  /** Whether the client may send one more message of a type. */
  readonly take: (what: Repeatable) => boolean
}

/** The protocol's side of a socket that has just opened. */
export type Connect = (opening: Opening) => OpenConnection

/** Serves graphql-transport-ws on sockets of any library. PROTOCOL.md is its specification. */
export function createConnections(options: ConnectionsOptions): Connect {
  const slices = createTurns()
  return (opening) => new OpenConnection(opening, options, slices)
}

/** What the payload of `connection_init` may take in memory: each operation of the socket reads all of it. */
const MAX_INIT_BYTES = 64 * 1024

interface Running {
  readonly operation: SocketOperation
  /** Serves the `subscribe` of the same id that waits for the end of this operation, or drops it. */
  goOn?: ((isServed: boolean) => void) | undefined
}

/** The protocol on one socket, from its opening to its end. */
class OpenConnection {
  readonly #options: ConnectionsOptions
  readonly #slices: Turns
  readonly #opening: Opening
  readonly #socket: ReadSocket
  readonly #initTimer: unknown
  readonly #running = new Map<string, Running>()
  #isInitialised = false
  /** Undefined until `connection_ack`. */
  #operations: SocketOperationOptions | undefined

  constructor(opening: Opening, options: ConnectionsOptions, slices: Turns) {
    const { clock, connectionInitTimeoutMs } = options
    this.#options = options
    this.#opening = opening
    this.#slices = slices
    this.#socket = new ReadSocket(opening.socket, () => {
      for (const { operation } of this.#running.values()) operation.flush()
    })
    if (opening.socket.protocol !== SUB_PROTOCOL)
      this.#socket.close(CLOSE.wrongProtocol, 'Subprotocol not acceptable')
    else if (connectionInitTimeoutMs > 0)
      this.#initTimer = clock.setTimeout(() => this.#closeUninitialised(), connectionInitTimeoutMs)
  }

  /** A text message arrived. */
  receive(text: string): void {
    if (!this.#isInitialised && text.length > MAX_INIT_BYTES) return this.#refuseInit()
    const message = readClientMessage(text)
    if (!this.#opening.take(message?.type ?? 'unknown')) return
    switch (message?.type) {
      case 'connection_init':
        return void this.#initialise(message.payload).catch(this.#fail)
      case 'ping': {
        // The payload is optional: a client that does not read gets none back.
        const payload = this.#socket.isReady() ? message.payload : undefined
        return this.#send({ type: 'pong', payload })
      }
      case 'pong':
        return
      case 'complete':
        return this.#complete(message.id)
      case 'subscribe':
        return this.#subscribe(message.id, message.payload)
      case undefined:
        return this.#socket.close(CLOSE.badRequest, 'Invalid message received')
    }
  }

  /** The socket is gone. */
  closed(): void {
    this.#options.clock.clearTimeout(this.#initTimer)
    for (const running of this.#running.values()) {
      release(running, false)
      running.operation.complete()
    }
  }

  async #initialise(connectionParams: LiveConnection['connectionParams']): Promise<void> {
    const { engine, updateFields, onConnect, onError, toAsked } = this.#options
    if (this.#isInitialised) return this.#socket.close(CLOSE.secondInit, 'Too many initialisation requests')
    this.#isInitialised = true
    const bytes = heldBytes(connectionParams)
    if (bytes > MAX_INIT_BYTES) return this.#refuseInit()
    this.#socket.hold(bytes)
    const connection: LiveConnection = { ...this.#opening.handshake, connectionParams }
    const payload = await onConnect?.(connection)
    if (payload === false) return this.#socket.close(CLOSE.forbidden, 'Forbidden')
    this.#operations = {
      engine,
      socket: this.#socket,
      work: engine.turns.openWork(connection.client),
      // Each socket has an id of its own among the sockets of all paths: they share one store.
      socketId: randomUUID(),
      updateFields,
      slices: this.#slices,
      toAsked: (params) => toAsked(connection, params),
      onError,
    }
    this.#send({ type: 'connection_ack', ...(isRecord(payload) && { payload }) })
  }

  #complete(id: string): void {
    const running = this.#running.get(id)
    if (running?.operation.isCompleted) release(running, false)
    else running?.operation.complete()
  }

  #subscribe(id: string, params: OperationParams): void {
    const operations = this.#operations
    if (!operations) return this.#socket.close(CLOSE.unauthorized, 'Unauthorized')
    const running = this.#running.get(id)
    if (!running && this.#isFull()) {
      const payload = [
        formatError(liveQueryLimit('operations on this WebSocket', this.#options.maxSubscriptionsPerSocket)),
      ]
      return this.#send({ id, type: 'error', payload })
    }
    if (!running) return this.#start(id, params, operations)
    // A close frame has no room for more of the id.
    if (!running.operation.isCompleted || running.goOn)
      return this.#socket.close(CLOSE.idInUse, `Subscriber for ${id.slice(0, 20)} already exists`)
    const bytes = heldBytes(params)
    this.#socket.hold(bytes)
    running.goOn = (isServed) => {
      this.#socket.hold(-bytes)
      if (isServed) this.#start(id, params, operations)
    }
  }

  #start(id: string, params: OperationParams, operations: SocketOperationOptions): void {
    const running: Running = { operation: new SocketOperation(id, operations) }
    this.#running.set(id, running)
    const end = (): void => {
      this.#running.delete(id)
      release(running, true)
    }
    void running.operation.run(params).finally(end)
  }

  /** Operations that the client has completed and that have not ended may be as many again. */
  #isFull(): boolean {
    const { maxSubscriptionsPerSocket: most } = this.#options
    if (this.#running.size < most) return false
    const running = [...this.#running.values()].filter(({ operation }) => !operation.isCompleted)
    return running.length >= most || this.#running.size >= 2 * most
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }

  #refuseInit(): void {
    this.#socket.close(CLOSE.badRequest, 'connection_init, or a message before it, is too large')
  }

  #closeUninitialised(): void {
    if (this.#isInitialised) return
    this.#socket.close(CLOSE.initTimeout, 'Connection initialisation timeout')
  }

  readonly #fail = (error: unknown): void => {
    this.#options.onError(error)
    this.#socket.close(CLOSE.serverFault, 'Internal server error')
  }
}

function release(running: Running, isServed: boolean): void {
  const { goOn } = running
  running.goOn = undefined
  goOn?.(isServed)
}
