import { heldBytes, onAbort, type Turns } from '@vinyasa/base'
import { GraphQLError, type ExecutionResult } from 'graphql'
import { EndLiveQuery, toGraphQLError, unexpectedError } from '../errors.ts'
import type { LiveQueryEngine } from '../execution/engine.ts'
import {
  type Answer,
  type AnyResult,
  type AskedOperation,
  type LiveRegistration,
  NOBODYS,
  type OperationParams,
} from '../execution/passes.ts'
import type { LiveQuerySubscription } from '../store/registration.ts'
import type { LiveQueryChannel } from '../store/subscriber.ts'
import { nextWriter, type UpdateFields } from '../store/update.ts'
import { formatError, writeResult } from '../store/version.ts'
import type { WorkLine } from '../fair-turns.ts'
import type { ReadSocket } from './read-socket.ts'

export interface SocketOperationOptions {
  readonly engine: LiveQueryEngine
  readonly socket: ReadSocket
  /** The turns in which operations of the socket begin. */
  readonly work: WorkLine
  /** Unique among the sockets of the store. */
  readonly socketId: string
  readonly updateFields: UpdateFields
  /** The turns in which long results are written. */
  readonly slices: Turns
  /** The operation of a `subscribe`, as a request is made of it. */
  readonly toAsked: (params: OperationParams) => AskedOperation
  readonly onError: (error: unknown) => void
}

/** One operation of a socket, from its `subscribe` to its end. */
export class SocketOperation {
  readonly #id: string
  readonly #options: SocketOperationOptions
  readonly #controller = new AbortController()
  /** Undefined once they have been used, or are of no more use. */
  #params: OperationParams | undefined
  #subscription: LiveQuerySubscription | undefined
  #bytes = 0

  constructor(id: string, options: SocketOperationOptions) {
    this.#id = id
    this.#options = options
  }

  /** Whether the client has ended it, or left. Nothing more is sent. */
  get isCompleted(): boolean {
    return this.#controller.signal.aborted
  }

  complete(): void {
    this.#controller.abort()
    if (!this.#params) return
    this.#params = undefined
    this.#hold(0)
  }

  /** The client has read what it was sent. */
  flush(): void {
    this.#subscription?.flush()
  }

  /** Resolves when it has ended. Never rejects. */
  run(params: OperationParams): Promise<void> {
    this.#params = params
    this.#hold(heldBytes(params))
    return this.#serve()
  }

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

  /** Asks for the operation, in its turn and once the client has read what it was sent. */
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
      // The store counts what it keeps of them.
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
      this.#options.onError(error)
    }
  }

  /** Resolves once it has left; a long result is written in several turns of the event loop. */
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

  /** Sends the errors as clients may see them; whatever else they were goes to `onError`. */
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
    if (!this.isCompleted) this.#options.onError(error)
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
