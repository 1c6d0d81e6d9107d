import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { atLeast, type KnownOptions, processLedger, text, texts } from '@vinyasa/core'
import { WebSocketServer } from 'ws'
import {
  asksForWebSocket,
  handshakeOf,
  ignoreUpgrades,
  refuseUpgrade,
  requestHeadersOf,
} from './protocol/handshake.ts'
import { type AllowedOrigins, createOriginCheck, createOriginRefusal } from './protocol/origins.ts'
import { refuseWrong } from './errors.ts'
import type { Turns } from './fair-turns.ts'
import { createConnections } from './protocol/connections.ts'
import {
  type Handshake,
  type LiveConnection,
  MAX_FRAGMENTS,
  type OnConnectResult,
  SUB_PROTOCOL,
} from './protocol/messages.ts'
import { WsSocket } from './ws/ws-socket.ts'
import type { LiveQueryPlugin } from './plugin.ts'
import type { UpdateFields } from './store/update.ts'

/** Options that are missing in the types of ws. */
const PIECES: object = { maxFragments: MAX_FRAGMENTS, maxBufferedChunks: MAX_FRAGMENTS }

/** Creates the set of open sockets of one server. */
function createLiveSockets(options: LiveServerOptions) {
  const { maxMessageBytes = 256 * 1024, maxBufferedBytes = 1024 * 1024 } = options
  const { keepAliveMs = 12_000, maxSubscriptionsPerSocket = 100, updateFields = 'payload' } = options
  const { onConnect, context, connectionHeaders = ['authorization'] } = options
  const { engine } = options.plugin
  const { clock } = engine
  const connect = createConnections({
    engine,
    maxSubscriptionsPerSocket,
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
  })
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    // Pongs are sent by `WsSocket`, which counts them.
    autoPong: false,
    ...PIECES,
    handleProtocols: (offered) => offered.has(SUB_PROTOCOL) && SUB_PROTOCOL,
  })
  const { clients } = wss

  return {
    clients,

    /**
     * Opens a socket.
     * @param turns the queue of its messages
     */
    open(request: IncomingMessage, stream: Duplex, head: Buffer, handshake: Handshake, turns: Turns): void {
      wss.handleUpgrade(request, stream, head, (ws) => {
        const { client } = handshake
        const socket = new WsSocket({ ws, stream, client, maxBufferedBytes, clock })
        const opened = connect({ socket, handshake, take: (what) => socket.take(what) })
        const stopKeepAlive = socket.keepAlive(keepAliveMs)
        socket.onText((text) => opened.receive(text), turns)
        ws.once('close', () => {
          stopKeepAlive()
          turns.close()
          opened.closed()
        })
      })
    },

    /** Closes the open sockets with code 1001. It resolves when all are closed, and terminates them after `timeoutMs`. */
    async close(timeoutMs: number): Promise<void> {
      const gone = [...clients].map((ws) => {
        const closed = new Promise<void>((resolve) => void ws.once('close', () => resolve()))
        ws.close(1001, 'Going away')
        return closed
      })
      const force = clock.setTimeout(() => {
        for (const ws of clients) ws.terminate()
      }, timeoutMs)
      await Promise.all(gone)
      clock.clearTimeout(force)
      wss.close()
    },
  }
}

export interface LiveServerOptions {
  /** The plugin that `useLiveQuery` returned. */
  readonly plugin: Pick<LiveQueryPlugin, 'engine'>
  /** Path of the sockets. Default `/graphql/live`. */
  readonly path?: string | undefined
  /** Maximum number of running operations on a socket. More are refused with `error`. Default 100. */
  readonly maxSubscriptionsPerSocket?: number | undefined
  /** A larger message closes the socket with 1009. Default 262 144. */
  readonly maxMessageBytes?: number | undefined
  /**
   * Maximum number of unsent bytes, plus 2 KiB for each message. A socket over the limit is terminated if it sent no
   * data for a second. Default 1 MiB.
   */
  readonly maxBufferedBytes?: number | undefined
  /**
   * Interval of pings in milliseconds. A socket that has not answered the previous ping is terminated. Default 12
   * 000; 0 disables pings.
   */
  readonly keepAliveMs?: number | undefined
  /**
   * Accepts or refuses `connection_init`. `false` closes the socket with 4403; an object becomes the payload of
   * `connection_ack`. `headers` are the headers that operations on the socket have.
   */
  readonly onConnect?:
    | ((connection: LiveConnection, headers: Headers) => OnConnectResult | Promise<OnConnectResult>)
    | undefined
  /**
   * Fields of the `connection_init` payload, or of its `headers`, that become request headers, because browsers
   * cannot set headers on a socket. The `extensions` of a `subscribe` can set them too, for that operation. Default
   * `['authorization']`.
   */
  readonly connectionHeaders?: readonly string[] | undefined
  /**
   * Names the client of a request. The sockets and live queries of a client share one part of the event loop.
   * Default: the address of the request, which is the proxy's address behind a proxy.
   */
  readonly clientOf?: ((request: IncomingMessage) => string) | undefined
  /** Returns additional context for each execution. */
  readonly context?: ((connection: LiveConnection) => Readonly<Record<string, unknown>>) | undefined
  /**
   * Origins whose pages can connect, such as `https://app.example`, in addition to the server's own origin. `*`
   * allows any page whose browser sends neither cookies nor `authorization`. A function decides for all origins and
   * receives the unchanged header. Other pages get 403. Requests without `Origin` do not come from a browser page and
   * can connect. The server's own origin is taken from `Host`; list it if a proxy changes that header. Default `[]`.
   */
  readonly allowedOrigins?: AllowedOrigins | undefined
  /**
   * Where the fields of an update other than `data` and `errors` are: in the payload, or in its
   * `extensions.liveQuery` as over SSE. Use `extensions` for clients that interpret a `revision` in the payload as a
   * patch, such as `@n1ru4l/graphql-live-query-patch`. Default `payload`.
   */
  readonly updateFields?: UpdateFields | undefined
}

const LIVE_SERVER_OPTIONS: KnownOptions<LiveServerOptions> = {
  plugin: true,
  path: text,
  maxSubscriptionsPerSocket: atLeast(0),
  maxMessageBytes: atLeast(0),
  maxBufferedBytes: atLeast(0),
  keepAliveMs: atLeast(0),
  onConnect: true,
  connectionHeaders: texts,
  clientOf: true,
  context: true,
  allowedOrigins: true,
  updateFields: true,
}

export interface LiveServer {
  /** Number of open sockets. */
  readonly sockets: number
  /**
   * Accepts no further sockets and closes the open sockets with 1001. Resolves when all are closed, and terminates them
   * after `timeoutMs`.
   */
  close(timeoutMs?: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Serves live queries and all other operations over WebSocket on a Node HTTP server. Requests with another protocol in
 * `Upgrade`, as from Java's client, are served without the upgrade, unless the server has another upgrade listener.
 */
export function attachLiveServer(server: Server, options: LiveServerOptions): LiveServer {
  refuseWrong(options, LIVE_SERVER_OPTIONS)
  const { path = '/graphql/live', allowedOrigins = [] } = options
  const { clientOf = ({ socket }) => socket.remoteAddress ?? '' } = options
  const { turns, onError } = options.plugin.engine
  const sockets = createLiveSockets(options)
  const mayConnect = createOriginCheck(allowedOrigins)
  const refusalOf = createOriginRefusal(onError)
  const ignored = ignoreUpgrades(server)
  let isClosing = false

  function onUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    if (!asksForWebSocket(request)) {
      if (server.listenerCount('upgrade') === 1) ignored.serve(request, stream, head)
      return
    }
    const client = clientOf(request)
    const handshake = { ...handshakeOf(request), client }
    if (new URL(handshake.url).pathname !== path) {
      // Another listener can serve this path. Without one, the socket would wait forever.
      if (server.listenerCount('upgrade') === 1) refuseUpgrade(stream, 404)
      return
    }
    if (isClosing || processLedger().isFull) return refuseUpgrade(stream, 503)
    if (!mayConnect(handshake)) return refuseUpgrade(stream, 403, refusalOf(handshake))
    turns.makeWay()
    const line = turns.open(client)
    // Node no longer manages the socket. An error before its turn must not end the process.
    stream.once('error', () => stream.destroy())
    line.run(() => {
      if (isClosing) return refuseUpgrade(stream, 503)
      sockets.open(request, stream, head, handshake, line)
    })
  }

  async function close(timeoutMs = 1000): Promise<void> {
    isClosing = true
    await sockets.close(timeoutMs)
    server.off('upgrade', onUpgrade).off('request', ignored.track)
  }

  server.on('upgrade', onUpgrade).prependListener('request', ignored.track)
  return {
    get sockets() {
      return sockets.clients.size
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

export { createFairTurns, type FairTurns, type Turns } from './fair-turns.ts'
export { asksForWebSocket, ignoreUpgrades, refuseUpgrade } from './protocol/handshake.ts'
export type { AllowedOrigins } from './protocol/origins.ts'
