import { randomUUID } from 'node:crypto'
import { createTurns, heldBytes, isRecord, onAbort, type Turns } from '@vinyasa/core'
import { GraphQLError, type ExecutionResult } from 'graphql'
import { EndLiveQuery, liveQueryLimit, toGraphQLError, unexpectedError } from '../errors.ts'
import type { LiveQueryEngine } from '../execution/engine.ts'
import {
  type Answer,
  type AnyResult,
  type AskedOperation,
  type LiveRegistration,
  NOBODYS,
  type OperationParams,
} from '../execution/passes.ts'
import type { WorkLine } from '../fair-turns.ts'
import type { LiveQueryChannel, LiveQuerySubscription } from '../store/subscriber.ts'
import { nextWriter, type UpdateFields } from '../store/update.ts'
import { formatError, writeResult } from '../store/version.ts'
import {
  CLOSE,
  type Handshake,
  type LiveConnection,
  type LiveSocket,
  type OnConnectResult,
  readClientMessage,
  type Repeatable,
  SUB_PROTOCOL,
} from './messages.ts'

export interface ConnectionsOptions {
  readonly engine: LiveQueryEngine
  readonly maxSubscriptionsPerSocket: number
  readonly updateFields: UpdateFields
  /** `false` closes the socket with 4403. An object is the payload of `connection_ack`. */
  readonly onConnect: ((connection: LiveConnection) => OnConnectResult | Promise<OnConnectResult>) | undefined
  /** Converts the operation of a `subscribe` message to a request. */
  readonly toAsked: (connection: LiveConnection, params: OperationParams) => AskedOperation
}

export interface Opening {
  readonly socket: LiveSocket
  readonly handshake: Handshake
  /** Returns whether the client can send another message of a type. */
  readonly take: (what: Repeatable) => boolean
}

/**
 * Serves graphql-transport-ws on sockets of any library, as PROTOCOL.md specifies. The returned function serves a new
 * socket.
 */
export function createConnections(options: ConnectionsOptions): (opening: Opening) => OpenConnection {
  const slices = createTurns()
  return (opening) => new OpenConnection(opening, options, slices)
}

/** Milliseconds to wait for `connection_init`. Then the socket closes with 4408. */
const INIT_TIMEOUT_MS = 3000

/** Maximum memory of the `connection_init` payload in bytes, because each operation of the socket reads it. */
const MAX_INIT_BYTES = 64 * 1024

interface Running {
  readonly operation: SocketOperation
  /** Serves or drops the `subscribe` with the same id that waits for the end of this operation. */
  goOn?: ((isServed: boolean) => void) | undefined
}

/** The protocol on one socket. */
class OpenConnection {
  readonly #options: ConnectionsOptions
  readonly #slices: Turns
  readonly #opening: Opening
  readonly #socket: ReadSocket
  readonly #initTimer: unknown
  readonly #running = new Map<string, Running>()
  #isInitialised = false
  /** `undefined` before `connection_ack`. */
  #operations: SocketOperationOptions | undefined

  constructor(opening: Opening, options: ConnectionsOptions, slices: Turns) {
    const { clock } = options.engine
    this.#options = options
    this.#opening = opening
    this.#slices = slices
    this.#socket = new ReadSocket(opening.socket, () => {
      for (const { operation } of this.#running.values()) operation.flush()
    })
    if (opening.socket.protocol !== SUB_PROTOCOL)
      this.#opening.socket.close(CLOSE.wrongProtocol, 'Subprotocol not acceptable')
    else
      this.#initTimer = clock.setTimeout(() => {
        if (!this.#isInitialised)
          this.#opening.socket.close(CLOSE.initTimeout, 'Connection initialisation timeout')
      }, INIT_TIMEOUT_MS)
  }

  /** Handles a text message. */
  receive(text: string): void {
    if (!this.#isInitialised && text.length > MAX_INIT_BYTES) return this.#refuseInit()
    const message = readClientMessage(text)
    if (!this.#opening.take(message?.type ?? 'unknown')) return
    switch (message?.type) {
      case 'connection_init':
        return void this.#initialise(message.payload).catch(this.#fail)
      case 'ping': {
        // The payload is optional, so a client that does not read receives none.
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
        return this.#opening.socket.close(CLOSE.badRequest, 'Invalid message received')
    }
  }

  /** Handles the end of the socket. */
  closed(): void {
    this.#options.engine.clock.clearTimeout(this.#initTimer)
    for (const running of this.#running.values()) {
      release(running, false)
      running.operation.complete()
    }
  }

  async #initialise(connectionParams: LiveConnection['connectionParams']): Promise<void> {
    const { engine, updateFields, onConnect, toAsked } = this.#options
    if (this.#isInitialised)
      return this.#opening.socket.close(CLOSE.secondInit, 'Too many initialisation requests')
    this.#isInitialised = true
    const bytes = heldBytes(connectionParams)
    if (bytes > MAX_INIT_BYTES) return this.#refuseInit()
    this.#socket.hold(bytes)
    const connection: LiveConnection = { ...this.#opening.handshake, connectionParams }
    const payload = await onConnect?.(connection)
    if (payload === false) return this.#opening.socket.close(CLOSE.forbidden, 'Forbidden')
    this.#operations = {
      engine,
      socket: this.#socket,
      work: engine.turns.openWork(connection.client),
      // The id is unique among the sockets of all paths, because they share one store.
      socketId: randomUUID(),
      updateFields,
      slices: this.#slices,
      toAsked: (params) => toAsked(connection, params),
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
    if (!operations) return this.#opening.socket.close(CLOSE.unauthorized, 'Unauthorized')
    const running = this.#running.get(id)
    if (!running && this.#isFull()) {
      const payload = [
        formatError(liveQueryLimit('operations on this WebSocket', this.#options.maxSubscriptionsPerSocket)),
      ]
      return this.#send({ id, type: 'error', payload })
    }
    if (!running) return this.#start(id, params, operations)
    // A close frame has no space for a longer id.
    if (!running.operation.isCompleted || running.goOn)
      return this.#opening.socket.close(CLOSE.idInUse, `Subscriber for ${id.slice(0, 20)} already exists`)
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

  /** Completed operations that have not ended count separately, up to the same limit. */
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
    this.#opening.socket.close(CLOSE.badRequest, 'connection_init, or a message before it, is too large')
  }

  readonly #fail = (error: unknown): void => {
    this.#options.engine.onError(error)
    this.#opening.socket.close(CLOSE.serverFault, 'Internal server error')
  }
}

function release(running: Running, isServed: boolean): void {
  const { goOn } = running
  running.goOn = undefined
  goOn?.(isServed)
}

/** A socket with more unsent bytes accepts no messages until they are sent. */
const HIGH_WATER_BYTES = 16 * 1024

/** A socket that detects whether its client reads. */
class ReadSocket {
  readonly #socket: LiveSocket
  readonly #onCaughtUp: () => void
  #isBehind = false
  #waiting: (() => void)[] = []

  /** Creates the socket. `onCaughtUp` is called each time it accepts messages again. */
  constructor(socket: LiveSocket, onCaughtUp: () => void) {
    this.#socket = socket
    this.#onCaughtUp = onCaughtUp
  }

  /** Returns whether it accepts messages. */
  isReady(): boolean {
    this.#isBehind ||= this.#socket.bufferedBytes() > HIGH_WATER_BYTES
    return !this.#isBehind
  }

  /** Resolves when it accepts messages. It does not resolve if the socket closes first. */
  whenReady(): Promise<void> {
    return this.isReady() ? Promise.resolve() : new Promise((resolve) => void this.#waiting.push(resolve))
  }

  send(text: string, shared?: Buffer, onSent?: () => void): void {
    this.#socket.send(text, shared, () => {
      onSent?.()
      this.#look()
    })
  }

  hold(bytes: number): void {
    this.#socket.hold(bytes)
  }

  #look(): void {
    if (!this.#isBehind || this.#socket.bufferedBytes() > HIGH_WATER_BYTES) return
    this.#isBehind = false
    const waiting = this.#waiting
    this.#waiting = []
    this.#onCaughtUp()
    for (const resolve of waiting) resolve()
  }
}

/** The common options of the operations of one socket. */
interface SocketOperationOptions extends Pick<ConnectionsOptions, 'engine' | 'updateFields'> {
  readonly socket: ReadSocket
  /** The queue in which operations of the socket start. */
  readonly work: WorkLine
  /** Unique among the sockets of the store. */
  readonly socketId: string
  /** The queue in which long results are serialized. */
  readonly slices: Turns
  /** Converts the operation of a `subscribe` message to a request. */
  readonly toAsked: (params: OperationParams) => AskedOperation
}

/** One operation of a socket, from its `subscribe` to its end. */
class SocketOperation {
  readonly #id: string
  readonly #options: SocketOperationOptions
  readonly #controller = new AbortController()
  /** `undefined` after they are no longer needed. */
  #params: OperationParams | undefined
  #subscription: LiveQuerySubscription | undefined
  #bytes = 0

  constructor(id: string, options: SocketOperationOptions) {
    this.#id = id
    this.#options = options
  }

  /** Whether the client has completed the operation or disconnected. No further messages are sent. */
  get isCompleted(): boolean {
    return this.#controller.signal.aborted
  }

  complete(): void {
    this.#controller.abort()
    if (!this.#params) return
    this.#params = undefined
    this.#hold(0)
  }

  /** Sends waiting messages after the client has read earlier messages. */
  flush(): void {
    this.#subscription?.flush()
  }

  /** Resolves when the operation has ended. Never rejects. */
  run(params: OperationParams): Promise<void> {
    this.#params = params
    this.#hold(heldBytes(params))
    return this.#serve()
  }

  /** Separate from `run`, because an async function keeps its arguments until it ends. */
  async #serve(): Promise<void> {
    try {
      const answer = await this.#ask()
      if (answer.kind === 'errors') return this.#sendErrors(answer.errors.map(toGraphQLError))
      await (answer.kind === 'live' ? this.#serveLive(answer.registration) : this.#sendResults(answer.result))
      this.#send({ type: 'complete' })
    } catch (error) {
      if (error instanceof EndLiveQuery) this.#sendErrors(error.errors)
      else this.#sendErrors([error instanceof GraphQLError ? error : this.#unexpected(error)])
    } finally {
      this.complete()
      this.#hold(0)
    }
  }

  /** Executes the operation in its turn, after the client has read earlier messages. */
  async #ask(): Promise<Answer> {
    const { engine, socket, work, toAsked } = this.#options
    const { signal } = this.#controller
    for (;;) {
      if (!socket.isReady()) await socket.whenReady()
      const answer = await work.run(async () => {
        if (!this.#params) return NOBODYS
        if (!socket.isReady()) return undefined
        const asked = toAsked(this.#params)
        this.#params = undefined
        return engine.ask(asked, signal)
      })
      if (answer) return answer
    }
  }

  #serveLive(registration: LiveRegistration): Promise<void> {
    const { engine, socket, socketId, updateFields } = this.#options
    const { signal } = this.#controller
    const write = nextWriter(this.#id, updateFields)
    return new Promise((resolve, reject) => {
      if (signal.aborted) return resolve()
      const channel: LiveQueryChannel = {
        ready: () => socket.isReady(),
        next: (delivery) => socket.send(...write(delivery)),
        end: (errors = []) => (errors.length > 0 ? reject(new EndLiveQuery(errors)) : resolve()),
      }
      const id = `${socketId}/${this.#id}`
      this.#subscription = engine.store.register({ ...registration, id, channel })
      // The store counts the memory that it keeps for the parameters.
      this.#hold(0)
      onAbort(signal, () => {
        engine.store.unregister(id)
        resolve()
      })
    })
  }

  async #sendResults(result: AnyResult): Promise<void> {
    if (!(Symbol.asyncIterator in result)) return this.#sendResult(result)
    const results = result[Symbol.asyncIterator]()
    let letGo = (): void => {}
    try {
      await new Promise<void>((resolve, reject) => {
        letGo = onAbort(this.#controller.signal, () => {
          resolve()
          void this.#leave(results)
        })
        this.#sendAll(results).then(resolve, reject)
      })
    } finally {
      letGo()
    }
  }

  async #sendAll(results: AsyncIterator<ExecutionResult>): Promise<void> {
    for (;;) {
      const step = await results.next()
      if (step.done === true || this.isCompleted) return
      try {
        await this.#sendResult(step.value)
      } catch (error) {
        void this.#leave(results)
        throw error
      }
    }
  }

  async #leave(results: AsyncIterator<ExecutionResult>): Promise<void> {
    try {
      await results.return?.()
    } catch (error) {
      this.#options.engine.onError(error)
    }
  }

  /** Resolves when the message is sent. A long result is serialized in several ticks of the event loop. */
  async #sendResult(result: ExecutionResult): Promise<void> {
    const { socket, slices } = this.#options
    const head = `{"id":${JSON.stringify(this.#id)},"type":"next","payload":`
    const written = writeResult(result, slices, () => this.#controller.signal.throwIfAborted())
    const payload = written instanceof Promise ? await written.catch(this.#unlessCompleted) : written
    if (payload === undefined || this.isCompleted) return
    await new Promise<void>((resolve) => {
      if (typeof payload === 'string') socket.send(`${head}${payload}}`, undefined, resolve)
      else socket.send(head, Buffer.concat([payload, Buffer.from('}')]), resolve)
    })
  }

  readonly #unlessCompleted = (error: unknown): undefined => {
    if (!this.isCompleted) throw error
  }

  /** Sends masked errors. The original errors go to `onError`. */
  #sendErrors(errors: readonly GraphQLError[]): void {
    if (this.isCompleted) return
    const payload = errors.map((error) => formatError(this.#shown(error)))
    this.#send({ type: 'error', payload })
  }

  #shown(error: GraphQLError): GraphQLError {
    const original: unknown = error.originalError ?? error.cause
    if (original === undefined || original instanceof GraphQLError) return error
    if (error.extensions['code'] !== undefined || error.path) return error
    return this.#unexpected(original)
  }

  #unexpected(error: unknown): GraphQLError {
    if (!this.isCompleted) this.#options.engine.onError(error)
    return unexpectedError(error)
  }

  #send(message: object): void {
    if (!this.isCompleted) this.#options.socket.send(JSON.stringify({ id: this.#id, ...message }))
  }

  #hold(bytes: number): void {
    this.#options.socket.hold(bytes - this.#bytes)
    this.#bytes = bytes
  }
}
