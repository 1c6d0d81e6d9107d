import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { systemClock, type Clock } from '@vinyasa/base'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Turns } from '../turns/line.ts'
import { createConnections, type Connect } from '../protocol/connections.ts'
import { requestHeadersOf } from '../protocol/handshake.ts'
import type { Handshake } from '../protocol/live-socket.ts'
import { MAX_FRAGMENTS } from '../protocol/message-budgets.ts'
import { SUB_PROTOCOL } from '../protocol/messages.ts'
import type { LiveServerOptions } from './live-server-options.ts'
import { WsSocket } from './ws-socket.ts'
import { reportError } from '../errors.ts'

/** A request that is to be a socket. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly stream: Duplex
  readonly head: Buffer
  readonly handshake: Handshake
  /** The line of its messages. */
  readonly turns: Turns
}

/** Options that the types of ws do not know yet. */
const PIECES: object = { maxFragments: MAX_FRAGMENTS, maxBufferedChunks: MAX_FRAGMENTS }

/** The open sockets of one server. */
export class LiveSockets {
  readonly #wss: WebSocketServer
  readonly #connect: Connect
  readonly #maxBufferedBytes: number
  readonly #keepAliveMs: number
  readonly #clock: Clock
  #isClosing = false

  constructor(options: LiveServerOptions) {
    const { maxMessageBytes = 256 * 1024, maxBufferedBytes = 1024 * 1024 } = options
    const { keepAliveMs = 12_000, clock = systemClock } = options
    this.#wss = new WebSocketServer({
      noServer: true,
      maxPayload: maxMessageBytes,
      // Pongs are counted.
      autoPong: false,
      ...PIECES,
      handleProtocols: (offered) => offered.has(SUB_PROTOCOL) && SUB_PROTOCOL,
    })
    this.#maxBufferedBytes = maxBufferedBytes
    this.#connect = connectOf(options, clock)
    this.#keepAliveMs = keepAliveMs
    this.#clock = clock
  }

  get size(): number {
    return this.#wss.clients.size
  }

  /** Whether no more are to be opened. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  open({ request, stream, head, handshake, turns }: Upgrade): void {
    this.#wss.handleUpgrade(request, stream, head, (ws) => this.#opened(ws, stream, handshake, turns))
  }

  #opened(ws: WebSocket, stream: Duplex, handshake: Handshake, turns: Turns): void {
    const { client } = handshake
    const maxBufferedBytes = this.#maxBufferedBytes
    const socket = new WsSocket({ ws, stream, client, maxBufferedBytes, clock: this.#clock })
    const opened = this.#connect({ socket, handshake, take: (what) => socket.take(what) })
    const stopKeepAlive = socket.keepAlive(this.#keepAliveMs)
    socket.onText((text) => opened.receive(text), turns)
    ws.once('close', () => {
      stopKeepAlive()
      turns.close()
      opened.closed()
    })
  }

  /** Opens no more and closes the open ones with 1001; resolves when all are gone, after `timeoutMs` by force. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosing = true
    const { clients } = this.#wss
    const gone = [...clients].map((ws) => {
      const closed = new Promise<void>((resolve) => void ws.once('close', () => resolve()))
      ws.close(1001, 'Going away')
      return closed
    })
    const force = this.#clock.setTimeout(() => {
      for (const ws of clients) ws.terminate()
    }, timeoutMs)
    await Promise.all(gone)
    this.#clock.clearTimeout(force)
    this.#wss.close()
  }
}

/** The protocol on the sockets. */
function connectOf(options: LiveServerOptions, clock: Clock): Connect {
  const {
    plugin,
    maxSubscriptionsPerSocket = 100,
    connectionInitTimeoutMs = 3000,
    onConnect,
    context,
    updateFields = 'payload',
  } = options
  const { connectionHeaders = ['authorization'], onError = reportError } = options
  return createConnections({
    engine: plugin.engine,
    maxSubscriptionsPerSocket,
    connectionInitTimeoutMs,
    updateFields,
    onConnect:
      onConnect && ((connection) => onConnect(connection, requestHeadersOf(connection, connectionHeaders))),
    toAsked: (connection, params) => ({
      url: connection.url,
      client: connection.client,
      headers: requestHeadersOf(connection, connectionHeaders, params['extensions']),
      params,
      context: () => ({ ...context?.(connection), connectionParams: connection.connectionParams }),
    }),
    clock,
    onError,
  })
}
