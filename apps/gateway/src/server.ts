import { createServer, type IncomingMessage, type ServerResponse, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { nameClient } from '@vinyasa/base'
import { guardBody } from '@vinyasa/node-handler'
import { asksForWebSocket, createFairTurns, ignoreUpgrades } from '@vinyasa/live-query/ws'
import type { Gateway } from './gateway.ts'
import { closeInStages } from './connections/close-in-stages.ts'
import { createConnectionGate } from './connections/connection-gate.ts'
import { limitConnections } from './connections/connection-limit.ts'
import { type DeadlineOptions, deadlinesOf, nodeDeadlines } from './http/deadlines.ts'
import { createDrain } from './connections/drain.ts'
import { endLateAnswers } from './connections/late-answers.ts'
import type { ServerConfig } from './http/http-types.ts'
import { createTrustedProxies } from './http/trusted-proxies.ts'
import { listen } from './connections/listen.ts'
import { isAt } from './http/paths.ts'
import { dropSlowReaders } from './connections/slow-readers.ts'
import type { Logger } from './logging/logger.ts'
import { createOutage } from './logging/outage.ts'
import { clientsBy } from './rate-limit/client-address.ts'

/** Counts the responses that are being written. `onEnd` runs as each of them ends. */
function createInFlight(onEnd: () => void) {
  let open = 0
  let waiting: (() => void)[] = []
  return {
    begin(): void {
      open++
    },
    /** Call when a response has ended, or its client has left. */
    end(): void {
      onEnd()
      open--
      if (open > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    },
    /** Resolves once all that have begun have ended. */
    idle: (): Promise<void> =>
      open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
  }
}

/**
 * An idle connection is open for so much longer than its client was told: a request that the client sends in the last
 * moment is on its way for a while, and would find the connection closed.
 */
const ON_THE_WAY_MS = 1_000

/** Closes connections that are idle for longer than the server's `keepAliveTimeout`, which clients are told. */
function closeIdleConnections(server: Server): void {
  // Node leaves to the listener what becomes of the connection. A request that comes ends the second wait as well.
  server.on('timeout', (socket: Socket) => {
    if (socket.timeout === ON_THE_WAY_MS) socket.destroy()
    else socket.setTimeout(ON_THE_WAY_MS)
  })
}

type Bounds = 'maxConnections' | 'maxInFlight' | 'maxAddressShare'

/** What the config says in `server`, without what a preset or the environment adds. */
export interface ServeOptions extends Pick<ServerConfig, 'host' | 'trustProxy' | Bounds>, DeadlineOptions {
  /** Default 4000; 0 takes a free port. */
  readonly port?: number | undefined
  /** Told of refused and cut connections. */
  readonly logger?: Logger | undefined
}

export interface CloseOptions {
  /** After this long, connections still open are destroyed. Default 30_000 ms. */
  readonly graceMs?: number | undefined
}

export interface GatewayServer {
  /** Base address, for example `http://127.0.0.1:4000`. */
  readonly url: string
  /**
   * Serves the next requests from another gateway, from this moment on. Those in flight end on the old one; its
   * WebSockets are closed with 1001 and its event streams are cut, so that live queries begin anew on the next one.
   * The promise resolves once the old one is closed.
   */
  replace(next: Gateway): Promise<void>
  /**
   * Graceful stop: readiness 503, subscriptions `complete`, WebSockets closed with 1001, event streams cut, requests in flight
   * ended, then backends closed.
   */
  close(options?: CloseOptions): Promise<void>
}

/** Requests that one connection may have without an answer, sent one behind the other; behind them it is not read. */
const MAX_UNANSWERED = 32

const SHED = {
  down: 'requests are refused with 503 or 429 because too many requests wait for a response (server.maxInFlight, or server.maxAddressShare for one client address), or because the memory held for clients exceeds a quarter of the heap limit (--max-old-space-size)',
  up: 'requests are no longer refused',
}

/** Listens on HTTP and WebSocket for a gateway. Throws {@link ConfigError} when the port cannot be had. */
export async function serve(gateway: Gateway, options: ServeOptions = {}): Promise<GatewayServer> {
  const { port = 4000, host = '127.0.0.1', maxConnections = 0, logger } = options
  const { maxInFlight = 2000, maxAddressShare: addressShare = 0.5 } = options
  const deadlines = deadlinesOf(options)
  const proxies = createTrustedProxies(options.trustProxy ?? false)
  const addressOf = clientsBy(proxies)
  const serving = (gateway: Gateway) => {
    gateway.measureLoad(() => ({
      requests: [...gate.inFlight].filter(({ response }) => !response.headersSent).length,
      connections: drain.connections(),
    }))
    return servedBy(gateway, () => drain.release())
  }
  const shed = createOutage(logger, SHED, { maxInFlight, maxAddressShare: addressShare })
  let current = serving(gateway)
  const isProbe = (url: string | undefined): boolean => isAt(url, current.gateway.probePaths)
  const gate = createConnectionGate({
    isProbe,
    maxUnanswered: MAX_UNANSWERED,
    maxInFlight,
    addressShare,
    addressOf,
    turns: createFairTurns(),
    serve(request, response) {
      const served = current
      shed.worked()
      drain.track(request, response)
      served.serve(request, response)
      return served
    },
    onRefused(request, response, { status, code }) {
      shed.failed(code, String)
      current.gateway.ended({ request, response, status, code, isShed: true })
    },
  })
  const server = createServer(nodeDeadlines(deadlines), (request, response) => {
    proxies.clean(request)
    nameClient(request, addressOf)
    ignored.track(request, response)
    guardBody(request, response)
    gate.admit(request, response)
  })
  server.on('checkExpectation', (request, response) => {
    guardBody(request, response)
    response.writeHead(417).end()
    current.gateway.ended({ request, response })
  })
  const { isTrusted: isProxy } = proxies
  const { idleSince, inFlight: waiting } = gate
  const limit = limitConnections(server, { maxConnections, addressShare, isProxy, idleSince, logger })
  closeIdleConnections(server)
  closeInStages(server, gate.isWhole, (...refusal) => current.refused(...refusal))
  const onEnd = (...late: [IncomingMessage, ServerResponse]): void => current.endLate(...late)
  endLateAnswers(server, { ...deadlines, inFlight: waiting, onEnd, logger })
  dropSlowReaders(server, { ...deadlines, ...gate, logger })
  const drain = createDrain(server, { isProbe, inFlight: gate.inFlight, stop: () => listening.close() })
  const ignored = ignoreUpgrades(server)
  /** Gateways that were replaced and still have requests in flight. */
  const retired = new Set<Promise<void>>()
  server.on('upgrade', (request, socket, head) => {
    proxies.clean(request)
    // A connection may bring any number of upgrades that are ignored: each is served, and counted, as another request.
    if (!asksForWebSocket(request)) return ignored.serve(request, socket, head)
    socket.once('refused', (status: number) => current.gateway.ended({ request, status }))
    limit.keep(socket as Socket)
    current.gateway.handleUpgrade(request, socket, head)
  })
  const listening = await listen(server, port, host)

  return {
    url: `http://${formatHost(host)}:${listening.port}`,
    async replace(next) {
      const old = current
      current = serving(next)
      // What is live would go on with the old schema and backends: its clients come back to the new one.
      old.gateway.startDraining({ isFollowed: true })
      const closed = old.inFlight.idle().then(() => old.gateway.close())
      retired.add(closed)
      await closed.finally(() => retired.delete(closed))
    },
    async close({ graceMs = 30_000 } = {}) {
      const deadline = AbortSignal.timeout(Math.max(1, graceMs))
      current.gateway.startDraining()
      await drain.close(deadline)
      shed.worked(0)
      await Promise.all([...retired, current.gateway.close()])
    },
  }
}

/** Serves requests from a gateway, and tells it of those that end without a response of its own. */
function servedBy(gateway: Gateway, onEnd: () => void) {
  const inFlight = createInFlight(onEnd)
  return {
    gateway,
    inFlight,
    serve(request: IncomingMessage, response: ServerResponse): void {
      inFlight.begin()
      gateway.handle(request, response)
    },
    end(request: IncomingMessage, response: ServerResponse): void {
      gateway.ended({ request, response })
      inFlight.end()
    },
    endLate: (request: IncomingMessage, response: ServerResponse): void =>
      gateway.ended({ request, response, status: 504, code: 'ANSWER_TIMEOUT' }),
    refused: (status: number, response: ServerResponse<IncomingMessage> | undefined): void =>
      gateway.ended({ status, response, request: response?.req }),
  }
}

function formatHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
