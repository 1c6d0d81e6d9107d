import type { GraphQLError, ExecutionArgs, ExecutionResult } from 'graphql'
import type { AnyResult, LiveQueryEngine, OperationParams, PreparedOperation } from '../engine.ts'
import { liveQueryLimit } from '../errors.ts'
import type { LiveQuerySubscription } from '../store.ts'
import type { LiveQueryChannel } from '../subscriber.ts'
import { formatNextHead } from '../update.ts'
import type { LiveSocket } from './live-socket.ts'
import { LiveOperationStream, failed, single, type ResultStream } from './streams.ts'

/** A socket that holds more than this many unsent bytes takes no further update before it has caught up. */
const HIGH_WATER_BYTES = 16 * 1024

export interface SocketOperationsOptions {
  readonly engine: LiveQueryEngine
  readonly socket: LiveSocket
  /** Unique among the sockets of the store. */
  readonly socketId: string
  readonly maxSubscriptions: number
  readonly createContext: (signal: AbortSignal) => Record<string, unknown>
}

type Runnable = Exclude<PreparedOperation, { kind: 'errors' }>
type LiveRegistration = Extract<PreparedOperation, { kind: 'live' }>['registration']

export interface PreparedRun {
  readonly args: ExecutionArgs
  readonly run: () => Promise<ResultStream>
}

/** The operations of one socket. Frames of live queries go to the socket from here; graphql-ws sends the rest. */
export class SocketOperations {
  readonly #options: SocketOperationsOptions
  readonly #running = new Map<string, AbortController>()
  readonly #live = new Set<LiveQuerySubscription>()
  #stalled = false

  constructor(options: SocketOperationsOptions) {
    this.#options = options
  }

  /** Says how the operation is to be served. Never rejects. */
  async prepare(id: string, params: OperationParams): Promise<PreparedRun | readonly GraphQLError[]> {
    const { engine, createContext, maxSubscriptions } = this.#options
    if (this.#running.size >= maxSubscriptions) return [liveQueryLimit('of this socket', maxSubscriptions)]
    const controller = new AbortController()
    this.#running.set(id, controller)
    const prepared = await engine.prepare({ params, createContext, signal: controller.signal })
    if (prepared.kind === 'errors') return prepared.errors
    // A copy: one args object is one operation, whatever plugins hand out.
    const args = { ...prepared.args }
    return { args, run: () => this.#run(id, prepared, args) }
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

  /** A failure is the stream's, so that it ends this operation and not the socket. */
  async #run(id: string, prepared: Runnable, args: ExecutionArgs): Promise<ResultStream> {
    try {
      if (prepared.kind === 'live') return this.#startLive(id, prepared.registration)
      const result: AnyResult = await prepared.run(args)
      return isAsyncIterable(result) ? result : single(result)
    } catch (error) {
      return failed(error)
    }
  }

  #startLive(id: string, registration: LiveRegistration): ResultStream {
    const { engine, socketId } = this.#options
    const idJson = JSON.stringify(id)
    return new LiveOperationStream((end) => {
      const channel: LiveQueryChannel = {
        ready: () => this.#isReady(),
        next: (delivery) =>
          this.#options.socket.send(formatNextHead(delivery, idJson), delivery.version.tail(), this.#onSent),
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

  #isReady(): boolean {
    this.#stalled ||= this.#options.socket.bufferedBytes() > HIGH_WATER_BYTES
    return !this.#stalled
  }

  readonly #onSent = (): void => {
    if (!this.#stalled || this.#options.socket.bufferedBytes() > HIGH_WATER_BYTES) return
    this.#stalled = false
    for (const subscription of this.#live) subscription.flush()
  }
}

function isAsyncIterable(result: AnyResult): result is AsyncIterable<ExecutionResult> {
  return Symbol.asyncIterator in result
}
