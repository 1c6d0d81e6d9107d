import type { Turns } from '@vinyasa/base'
import type { ExecutionResult, GraphQLError } from 'graphql'
import type { LiveQueryEngine } from '../execution/engine.ts'
import { liveQueryLimit, toGraphQLError } from '../errors.ts'
import type { WorkLine } from '../turns/work-line.ts'
import type { AskedOperation, OperationParams } from '../execution/passes.ts'
import { type AnyResult, type Answer, type LiveRegistration, NOBODYS } from '../execution/answer.ts'
import type { LiveQuerySubscription } from '../store/registration.ts'
import type { LiveQueryChannel } from '../store/subscriber.ts'
import { nextWriter, type UpdateFields } from '../store/update.ts'
import type { ReadSocket } from './read-socket.ts'
import { SentResults } from './sent-results.ts'
import { LiveOperationStream, single, type ResultStream } from './streams.ts'

export interface SocketOperationsOptions {
  readonly engine: LiveQueryEngine
  readonly socket: ReadSocket
  /** Its own line. */
  readonly work: WorkLine
  /** Unique among the sockets of the store. */
  readonly socketId: string
  readonly maxSubscriptions: number
  readonly updateFields: UpdateFields
  /** The turns in which long results are written. */
  readonly slices: Turns
  /** The operation of a `subscribe`, as a request is made of it. */
  readonly toAsked: (params: OperationParams) => AskedOperation
}

/** The operations of one socket. Frames of live queries go to the socket from here; graphql-ws sends the rest. */
export class SocketOperations {
  readonly #options: SocketOperationsOptions
  readonly #running = new Map<string, AbortController>()
  readonly #live = new Set<LiveQuerySubscription>()

  constructor(options: SocketOperationsOptions) {
    this.#options = options
  }

  /**
   * Asks for the operation, in its turn and once the client has read what it was sent: what is to be sent for it, or why
   * nothing is. Never rejects.
   */
  async start(id: string, params: OperationParams): Promise<ResultStream | readonly GraphQLError[]> {
    const { maxSubscriptions } = this.#options
    if (this.#running.size >= maxSubscriptions) return [liveQueryLimit('of this socket', maxSubscriptions)]
    const controller = new AbortController()
    this.#running.set(id, controller)
    const { signal } = controller
    return this.#streamOf(id, await this.#ask(params, signal), signal)
  }

  async #ask(params: OperationParams, signal: AbortSignal): Promise<Answer> {
    const { engine, socket, work, toAsked } = this.#options
    for (;;) {
      if (!socket.isReady()) await socket.whenReady()
      const answer = await work.run(async () => {
        // It was ended while it waited: nobody asks for its result.
        if (signal.aborted) return NOBODYS
        return socket.isReady() ? engine.ask(toAsked(params), signal) : undefined
      })
      if (answer) return answer
    }
  }

  /** The client has read what it was sent. */
  goOn(): void {
    for (const subscription of this.#live) subscription.flush()
  }

  #streamOf(id: string, answer: Answer, signal: AbortSignal): ResultStream | readonly GraphQLError[] {
    const { socket, slices } = this.#options
    switch (answer.kind) {
      case 'errors':
        return answer.errors.map(toGraphQLError)
      case 'live':
        return this.#startLive(id, answer.registration)
      case 'result':
        return new SentResults({ id, results: resultsOf(answer.result), socket, slices, signal })
    }
  }

  /** The operation is over: by itself, by the client's will, or before it began. */
  end(id: string): void {
    this.#running.get(id)?.abort()
    this.#running.delete(id)
  }

  /** The socket is gone. */
  close(): void {
    for (const id of this.#running.keys()) this.end(id)
    for (const subscription of this.#live) this.#options.engine.store.unregister(subscription.id)
    this.#live.clear()
  }

  #startLive(id: string, registration: LiveRegistration): ResultStream {
    const { engine, socket, socketId, updateFields } = this.#options
    const write = nextWriter(id, updateFields)
    return new LiveOperationStream((end) => {
      const channel: LiveQueryChannel = {
        ready: () => socket.isReady(),
        next: (delivery) => socket.send(...write(delivery)),
        end,
      }
      const subscription = engine.store.register({ ...registration, id: `${socketId}/${id}`, channel })
      this.#live.add(subscription)
      return () => {
        this.#live.delete(subscription)
        engine.store.unregister(subscription.id)
      }
    })
  }
}

function resultsOf(result: AnyResult): AsyncIterable<ExecutionResult> {
  return Symbol.asyncIterator in result ? result : single(result)
}
