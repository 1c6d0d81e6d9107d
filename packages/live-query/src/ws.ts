import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { handleProtocols } from 'graphql-ws'
import { WebSocketServer, type WebSocket } from 'ws'
import { systemClock, type Clock } from '@vinyasa/base'
import type { LiveQueryPlugin } from './plugin.ts'
import { createConnections, type LiveConnection, type OnConnectResult } from './protocol/connections.ts'
import { handshakeOf, refuseUpgrade, requestHeadersOf } from './protocol/handshake.ts'
import { asksForWebSocket, ignoreUpgrades } from './protocol/ignore-upgrades.ts'
import type { LiveSocket } from './protocol/live-socket.ts'
import { MAX_FRAGMENTS, MessageBudgets, type Repeatable } from './protocol/message-budgets.ts'
import { createOriginCheck, type AllowedOrigins } from './protocol/origins.ts'
import { createSendBudget, type SocketBudget } from './protocol/send-budget.ts'

export type { LiveConnection, OnConnectResult } from './protocol/connections.ts'
export {
  createFairTurns,
  type FairTurns,
  type FairTurnsOptions,
  type Turns,
  type WorkTurns,
} from './fair-turns.ts'
export type { AllowedOrigins } from './protocol/origins.ts'
export { asksForWebSocket, ignoreUpgrades, type IgnoredUpgrades } from './protocol/ignore-upgrades.ts'

export interface LiveServerOptions {
  /** The plugin that `useLiveQuery` returned. */
  readonly plugin: Pick<LiveQueryPlugin, 'engine'>
  /** Default `/graphql/live`. */
  readonly path?: string | undefined
  /** Live queries, subscriptions and queries under way on one socket. One over is answered with `error`. Default 100. */
  readonly maxSubscriptionsPerSocket?: number | undefined
  /** A larger message closes the socket with 1009. Default 262 144. */
  readonly maxMessageBytes?: number | undefined
  /**
   * A socket with more than this waiting to be sent, 2 KiB a message included, is cut off when nothing has left for a
   * second. Default 1 MiB.
   */
  readonly maxBufferedBytes?: number | undefined
  /**
   * Bytes that may wait on all sockets; over it one with more than its equal part is cut off. Default 64 MiB.
   */
  readonly maxBufferedBytesInAll?: number | undefined
  /** A socket that was closed and whose client has not answered by then is cut off. Default 3000. */
  readonly closeTimeoutMs?: number | undefined
  /** Time for `connection_init`, else 4408. Default 3000; 0: for ever. */
  readonly connectionInitTimeoutMs?: number | undefined
  /** A ping this often; a socket that has not answered the one before is cut off. Default 12 000; 0: none. */
  readonly keepAliveMs?: number | undefined
  /**
   * Whether to accept `connection_init`. `false` closes with 4403; an object is the payload of `connection_ack`. The
   * headers are those that operations of the socket have.
   */
  readonly onConnect?:
    | ((connection: LiveConnection, headers: Headers) => OnConnectResult | Promise<OnConnectResult>)
    | undefined
  /**
   * Payload fields of `connection_init` (or of its `headers`) that count as request headers, as browsers cannot set
   * headers on a socket; of the `extensions` of a `subscribe`, too, for that operation. Default `['authorization']`.
   */
  readonly connectionHeaders?: readonly string[] | undefined
  /**
   * Names the client whose share of the event loop the sockets and live queries of a request take, where some
   * have more to do than others should wait for. Default: that of the address it came from; behind a proxy
   * that is the proxy's.
   */
  readonly clientOf?: ((request: IncomingMessage) => string) | undefined
  /** More for the context of each execution. */
  readonly context?: ((connection: LiveConnection) => Readonly<Record<string, unknown>>) | undefined
  /**
   * Which pages may connect: origins as `https://app.example`, beside that of the server itself; `*`: any page, as long as
   * its browser sends neither cookies nor `authorization`; a function decides alone, and gets the header as it came.
   * What sends no `Origin` is no page of a browser, and connects. Others are refused with 403. The server's own origin
   * is the one of `Host`; where a proxy changes that, list the origin. Default `[]`.
   */
  readonly allowedOrigins?: AllowedOrigins | undefined
  /** Receives failures of the background. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
}

export interface LiveServer {
  /** How many sockets are open. */
  readonly sockets: number
  /** Takes no more sockets and closes the open ones with 1001; resolves when all are gone, after `timeoutMs` by force. */
  close(timeoutMs?: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** An option that the types of ws do not know yet. */
const FRAGMENTS: object = { maxFragments: MAX_FRAGMENTS }

/** Bytes that a waiting message costs beside its own, so that small ones do not pile up unread either. */
const MESSAGE_BYTES = 2048

/**
 * Serves live queries, and everything else of GraphQL, over WebSocket on a Node HTTP server. Requests that ask for another
 * protocol, as Java's client does, are served as if they had not, unless the server has another listener for upgrades.
 */
export function attachLiveServer(server: Server, options: LiveServerOptions): LiveServer {
  const { plugin, path = '/graphql/live', maxSubscriptionsPerSocket = 100, onConnect, context } = options
  const { maxMessageBytes = 256 * 1024, maxBufferedBytes = 1024 * 1024, keepAliveMs = 12_000 } = options
  const { maxBufferedBytesInAll = 64 * 1024 * 1024, closeTimeoutMs = 3000 } = options
  const { connectionInitTimeoutMs = 3000, connectionHeaders = ['authorization'] } = options
  const { clientOf = ({ socket }) => socket.remoteAddress ?? '' } = options
  const { allowedOrigins = [], onError = reportError, clock = systemClock } = options
  const wss = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    ...FRAGMENTS,
    handleProtocols,
  })
  const mayConnect = createOriginCheck(allowedOrigins)
  const ignored = ignoreUpgrades(server)
  const budget = createSendBudget({
    perSocket: maxBufferedBytes,
    inAll: maxBufferedBytesInAll,
    clock,
  })
  let closing = false

  const connections = createConnections({
    engine: plugin.engine,
    maxSubscriptionsPerSocket,
    connectionInitTimeoutMs,
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

  function onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!asksForWebSocket(request)) {
      if (server.listenerCount('upgrade') === 1) ignored.serve(request, socket, head)
      return
    }
    const client = clientOf(request)
    const handshake = { ...handshakeOf(request), client }
    if (new URL(handshake.url).pathname !== path) {
      // Another listener may serve that path; without one the socket would wait for ever.
      if (server.listenerCount('upgrade') === 1) refuseUpgrade(socket, 404)
      return
    }
    if (closing) return refuseUpgrade(socket, 503)
    if (!mayConnect(handshake)) return refuseUpgrade(socket, 403)
    plugin.engine.turns.makeWay()
    const turns = plugin.engine.turns.open(client)
    // Node has let go of the socket, and one that breaks off before its turn must not end the process.
    socket.once('error', () => socket.destroy())
    turns.run(() => {
      if (closing) return refuseUpgrade(socket, 503)
      wss.handleUpgrade(request, socket, head, (ws) => {
        const share = budget.open(() => ws.terminate())
        const budgets = new MessageBudgets(clock.now)
        const take = (what: Repeatable): boolean => {
          if (budgets.take(what)) return true
          if (ws.readyState === ws.OPEN) closeSoon(ws, 1008, `Too many messages: ${what}`)
          else ws.terminate()
          return false
        }
        const opened = connections.open({ socket: adapt(ws, socket, share), handshake, take })
        const stopKeepAlive = keepAlive(ws, keepAliveMs, clock)
        ws.on('message', (data, isBinary) => {
          if (ws.readyState !== ws.OPEN) return
          if (isBinary && !take('binary')) return
          if (isBinary) return closeSoon(ws, 4400, 'Invalid message received')
          turns.run(() => {
            if (ws.readyState === ws.OPEN) opened.receive(String(data))
            if (ws.isPaused && turns.waiting === 0) ws.resume()
          })
          // Its messages wait for their turns where the client can see it: in its own buffers.
          if (turns.waiting > 0) ws.pause()
        })
        // A violation of the WebSocket protocol: ws closes with the code for it. The client's fault, so nothing to report.
        ws.on('error', () => cutOffSoon(ws))
        ws.on('ping', () => void take('ping frame'))
        ws.on('pong', () => void take('pong frame'))
        ws.once('close', (code, reason) => {
          stopKeepAlive()
          share.close()
          turns.close()
          opened.closed(code, String(reason))
        })
      })
    })
  }

  function closeSoon(ws: WebSocket, code: number, reason: string): void {
    ws.close(code, reason)
    cutOffSoon(ws)
  }

  /** A client that does not answer the close frame would be kept for long. */
  function cutOffSoon(ws: WebSocket): void {
    const timer = clock.setTimeout(() => ws.terminate(), closeTimeoutMs)
    ws.once('close', () => clock.clearTimeout(timer))
    // The answer is read behind messages that will not be.
    ws.resume()
  }

  function adapt(ws: WebSocket, socket: Duplex, share: SocketBudget): LiveSocket {
    return {
      protocol: ws.protocol,
      bufferedBytes: () => ws.bufferedAmount,
      send(text, shared, done) {
        if (ws.readyState !== ws.OPEN) return done?.()
        if (share.isOver()) {
          ws.terminate()
          return done?.()
        }
        const bytes = MESSAGE_BYTES + text.length + (shared?.length ?? 0)
        share.wait(bytes)
        const onSent = (): void => {
          share.sent(bytes)
          done?.()
        }
        if (!shared) return ws.send(text, onSent)
        // Two fragments of one message (RFC 6455, section 5.4): what all receive is not copied for each.
        socket.cork()
        ws.send(text, { fin: false })
        ws.send(shared, { binary: false }, onSent)
        socket.uncork()
      },
      close: (code, reason) => closeSoon(ws, code, reason),
    }
  }

  async function close(timeoutMs = 1000): Promise<void> {
    closing = true
    const gone = [...wss.clients].map((ws) => {
      const closed = new Promise<void>((resolve) => void ws.once('close', () => resolve()))
      ws.close(1001, 'Going away')
      return closed
    })
    const force = clock.setTimeout(() => {
      for (const ws of wss.clients) ws.terminate()
    }, timeoutMs)
    await Promise.all(gone)
    clock.clearTimeout(force)
    server.off('upgrade', onUpgrade).off('request', ignored.track)
    wss.close()
  }

  server.on('upgrade', onUpgrade).prependListener('request', ignored.track)
  return {
    get sockets() {
      return wss.clients.size
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

/** Pings the socket, and cuts it off when it has not answered by the next ping. */
function keepAlive(ws: WebSocket, intervalMs: number, clock: Clock): () => void {
  if (intervalMs <= 0 || !Number.isFinite(intervalMs)) return () => {}
  let answered = true
  let timer: unknown
  ws.on('pong', () => void (answered = true))
  const beat = (): void => {
    if (!answered) return ws.terminate()
    answered = false
    if (ws.readyState === ws.OPEN) ws.ping()
    timer = clock.setTimeout(beat, intervalMs)
  }
  timer = clock.setTimeout(beat, intervalMs)
  return () => clock.clearTimeout(timer)
}

function reportError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.error('[vinyasa] live server:', error)
}
