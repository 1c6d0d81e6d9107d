import { randomUUID } from 'node:crypto'
import { buildSchema, parse, type ExecutionArgs, type FormattedExecutionResult } from 'graphql'
import { CloseCode, makeServer, type ExecutionResult } from 'graphql-ws'
import type { Clock } from '@vinyasa/base'
import type { LiveQueryEngine } from '../execution/engine.ts'
import { liveQueryLimit } from '../errors.ts'
import type { AskedOperation, OperationParams } from '../execution/passes.ts'
import { formatError } from '../store/version.ts'
import type { Handshake, LiveSocket } from './live-socket.ts'
import type { Repeatable } from './message-budgets.ts'
import { idOfServerMessage, MessageGate, readClientMessage } from './message-gate.ts'
import { SocketOperations } from './operations.ts'
import { ReadSocket } from './read-socket.ts'
import { errorsToSend, failed, type ResultStream } from './streams.ts'

export interface ConnectionsOptions {
  readonly engine: LiveQueryEngine
  readonly maxSubscriptionsPerSocket: number
  /** 0: wait for ever. */
  readonly connectionInitTimeoutMs: number
  /** `false` closes with 4403; an object is the payload of `connection_ack`. */
  readonly onConnect: ((connection: LiveConnection) => OnConnectResult | Promise<OnConnectResult>) | undefined
  /** The operation of a `subscribe`, as a request is made of it. */
  readonly toAsked: (connection: LiveConnection, params: OperationParams) => AskedOperation
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

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

export interface Opening {
  readonly socket: LiveSocket
  readonly handshake: Handshake
  /** Whether the client may send one more message of a type. */
  readonly take: (what: Repeatable) => boolean
}

/** The protocol's side of one open socket. */
export interface OpenedSocket {
  /** A text message arrived. */
  receive(text: string): void
  closed(code: number, reason: string): void
}

export interface Connections {
  /** The protocol's side of a socket that has just opened. */
  open(opening: Opening): OpenedSocket
}

interface Extra {
  readonly socket: ReadSocket
  operations: SocketOperations | undefined
  initialised: boolean
  readonly handshake: Handshake
}

/** Speaks graphql-transport-ws on sockets of any library. PROTOCOL.md says what is said. */
export function createConnections(options: ConnectionsOptions): Connections {
  const { engine, maxSubscriptionsPerSocket, connectionInitTimeoutMs, onConnect } = options
  const { toAsked, clock, onError } = options
  const streams = new WeakMap<object, ResultStream>()
  const anyOperation = { schema: buildSchema('type Query { any: Int }'), document: parse('{ any }') }

  const server = makeServer<Record<string, unknown>, Extra>({
    // Ours stands in `open`: this one cannot be given a clock.
    connectionInitWaitTimeout: 0,
    async onConnect({ extra, connectionParams }) {
      extra.initialised = true
      const connection: LiveConnection = { ...extra.handshake, connectionParams }
      const answer = await onConnect?.(connection)
      extra.operations = new SocketOperations({
        engine,
        socket: extra.socket,
        work: engine.turns.openWork(connection.client),
        // Each socket has an id of its own among the sockets of all paths: they share one store.
        socketId: randomUUID(),
        maxSubscriptions: maxSubscriptionsPerSocket,
        toAsked: (params) => toAsked(connection, params),
      })
      return answer
    },
    // The operation is parsed, validated and started here; graphql-ws runs a stand-in that gives its stream.
    async onSubscribe({ extra }, id, payload) {
      const started = await extra.operations?.start(id, { ...payload })
      if (!started || !(Symbol.asyncIterator in started)) return started
      const args = { ...anyOperation }
      streams.set(args, started)
      return args
    },
    execute: takeStream,
    onNext: (_context, _id, _payload, _args, result) => formatResult(result),
    onError: (_context, _id, _payload, errors) => errorsToSend(errors, onError).map(formatError),
  })

  function takeStream(args: ExecutionArgs): ResultStream {
    return streams.get(args) ?? failed(new Error('Only operations that were started can be run.'))
  }

  function open({ socket: opened, handshake, take }: Opening): OpenedSocket {
    const socket = new ReadSocket(opened, () => extra.operations?.goOn())
    const extra: Extra = { operations: undefined, initialised: false, handshake, socket }
    let handle: (text: string) => Promise<void> = async () => {}
    const closed = server.opened(
      {
        protocol: opened.protocol,
        async send(text) {
          const id = idOfServerMessage(text)
          if (id !== undefined && gate.isCompleted(id)) return
          await new Promise<void>((resolve) => socket.send(text, undefined, resolve))
        },
        close: (code, reason) => socket.close(code ?? 1000, reason ?? ''),
        onMessage: (listener) => void (handle = listener),
      },
      extra,
    )
    const gate = new MessageGate(
      async (message, text) => {
        if (message.type === 'complete' && message.id) extra.operations?.end(message.id)
        try {
          await handle(text)
        } finally {
          if (message.type === 'subscribe' && message.id) extra.operations?.end(message.id)
        }
      },
      // A close frame has no room for more.
      (id) =>
        socket.close(CloseCode.SubscriberAlreadyExists, `Subscriber for ${id.slice(0, 20)} already exists`),
    )
    const initTimer =
      connectionInitTimeoutMs > 0 ? clock.setTimeout(closeUninitialised, connectionInitTimeoutMs) : undefined

    function closeUninitialised(): void {
      if (!extra.initialised) {
        socket.close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout')
      }
    }

    async function receive(text: string): Promise<void> {
      const message = readClientMessage(text)
      if (!take(message?.type ?? 'unknown')) return undefined
      if (!message) return socket.close(CloseCode.BadRequest, 'Invalid message received')
      const { type, id } = message
      // Before anything of it is kept or waited for: thousands may come at once.
      if (type === 'subscribe' && id && extra.operations && gate.isBeyond(maxSubscriptionsPerSocket, id)) {
        const payload = [formatError(liveQueryLimit('of this socket', maxSubscriptionsPerSocket))]
        return socket.send(JSON.stringify({ id, type: 'error', payload }))
      }
      try {
        await gate.receive(message, text)
      } catch (error) {
        onError(error)
        socket.close(CloseCode.InternalServerError, 'Internal server error')
      }
    }

    return {
      receive: (text) => void receive(text),
      closed(code, reason) {
        clock.clearTimeout(initTimer)
        gate.clear()
        extra.operations?.close()
        closed(code, reason).catch(onError)
      },
    }
  }

  return { open }
}

function formatResult({ errors, ...result }: ExecutionResult): FormattedExecutionResult {
  return { ...result, ...(errors ? { errors: errors.map(formatError) } : {}) } as FormattedExecutionResult
}
