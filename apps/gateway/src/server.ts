import { createServer, type IncomingMessage, type ServerResponse, type Server, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import { nameClient, sleep, systemClock } from '@vinyasa/core'
import { guardBody } from '@vinyasa/node-handler'
import { asksForWebSocket, createFairTurns, ignoreUpgrades } from '@vinyasa/live-query/ws'
import type { Gateway } from './gateway.ts'
import { createConnectionGate } from './connections/connection-gate.ts'
import { limitConnections } from './connections/connection-limit.ts'
import { type DeadlineOptions, deadlinesOf, nodeDeadlines } from './http/deadlines.ts'
import { endLateAnswers } from './connections/late-answers.ts'
import type { ServerConfig } from './http/http-types.ts'
import { createTrustedProxies } from './http/trusted-proxies.ts'
import { listen } from './connections/listen.ts'
import { isAt } from './http/paths.ts'
import { dropSlowReaders } from './connections/slow-readers.ts'
import type { Logger } from './logging/logger.ts'
import { createOutage } from './logging/outage.ts'
import { clientsBy } from './rate-limit/client-address.ts'
import { closeOnceSent, linger } from './connections/linger.ts'
import { setImmediate } from 'node:timers/promises'

/**
 * Load balancers notice only after a moment that this server is leaving. Were it to stop listening at once,
 * connections that the kernel has accepted, and requests on their way over idle ones, would be reset. So it
 * goes on until no request has come for this long …
 */
const QUIET_MS = 1_000
/** … but no longer than this. */
const MAX_LINGER_MS = 5_000

interface DrainSettings {
  /** Knows the targets of health probes. */
  readonly isProbe: (url: string | undefined) => boolean
  /** Requests in flight, among them all tracked ones whose answers have no head yet. */
  readonly inFlight: Iterable<{ readonly response: ServerResponse }>
  /** Stops listening; resolves when no connection is left. */
  readonly stop: () => Promise<void>
}

interface Drain {
  /** Call for each request, before it is answered. */
  track(request: IncomingMessage, response: ServerResponse): void
  /** Number of open connections. */
  connections(): number
  /** Call when a tracked response has closed. */
  release(): void
  /**
   * Answers with `Connection: close` from now on, stops listening once no more requests come, lets those in flight
   * end, and resolves when no connection is left. Health probes do not count as requests. The signal ends the wait: open
   * connections are then destroyed.
   */
  close(signal: AbortSignal): Promise<void>
}

/** Graceful stop for one HTTP server. */
function createDrain(server: Server, { isProbe, inFlight, stop }: DrainSettings): Drain {
  const sockets = new Set<Socket>()
  let draining = false
  let listening = true
  let lastRequestAt = Number.NEGATIVE_INFINITY

  server.on('connection', (socket) => {
    // One whose upgrade was ignored comes again.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  async function quiet(signal: AbortSignal): Promise<void> {
    const latest = systemClock.now() + MAX_LINGER_MS
    for (;;) {
      const wait = Math.min(latest, lastRequestAt + QUIET_MS) - systemClock.now()
      if (signal.aborted) return
      // An abort ends the wait, and the next turn the loop.
      if (wait > 0) await sleep(systemClock, wait, signal)
      else if ((await isQuiet()) || systemClock.now() > latest) return
    }
  }

  /** On a busy machine the timer may be first, and requests that came long ago be waiting behind it. */
  async function isQuiet(): Promise<boolean> {
    const before = lastRequestAt
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    return lastRequestAt === before
  }

  return {
    track({ url }, response) {
      if (!isProbe(url)) lastRequestAt = systemClock.now()
      if (draining) response.setHeader('connection', 'close')
    },
    connections: () => sockets.size,
    release() {
      if (!listening) server.closeIdleConnections()
    },
    async close(signal) {
      draining = true
      for (const { response } of inFlight) {
        if (!response.headersSent) response.setHeader('connection', 'close')
      }
      await quiet(signal)
      listening = false
      const closed = stop()
      server.closeIdleConnections()
      const force = (): void => {
        for (const socket of sockets) socket.destroy()
      }
      if (signal.aborted) force()
      else signal.addEventListener('abort', force, { once: true })
      await closed
      signal.removeEventListener('abort', force)
    },
  }
}

/** Statuses for what cannot be read, by Node's codes; all else is 400. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/**
 * The response that is being written on a socket, as Node keeps it there; Node asks for it before it refuses
 * a request itself.
 */
interface SocketInsides {
  readonly _httpMessage?: (ServerResponse<IncomingMessage> & { readonly _headerSent?: boolean }) | null
}

/**
 * Lets clients have the last answer of their connection although they are still sending: a request that cannot be read, as
 * Node refuses it, or one that was answered before it was there whole. Node closes the socket at once in both cases. What
 * else was asked on the connection is not answered, and ends with it. `isWhole`: all of a connection's requests that are being
 * answered are there whole, so that nothing more will come. `onRefused` is called for what Node refuses, with the response
 * that it takes the place of, if there is one.
 */
function closeInStages(
  server: Server,
  isWhole: (socket: Socket) => boolean,
  onRefused?: (status: number, response: ServerResponse<IncomingMessage> | undefined) => void,
): void {
  const lingering = new WeakSet<Socket>()

  function begin(socket: Socket): void {
    lingering.add(socket)
    linger(socket)
  }

  /** In place of the socket's own, which HTTP calls behind an answer that is the last of its connection. */
  function destroySoon(this: Socket): void {
    if (lingering.has(this)) return
    if (this.destroyed || isWhole(this)) closeOnceSent(this)
    else begin(this)
  }

  server.on('connection', (socket: Socket) => {
    socket.destroySoon = destroySoon
  })
  // Node leaves to the listener what becomes of the connection. It tells of a broken one here, too.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!(socket instanceof Socket)) return void socket.destroy(error)
    if (lingering.has(socket)) return
    if (!socket.writable) return void socket.destroy(error)
    const { _httpMessage: response } = socket as SocketInsides
    // Half a response cannot be taken back.
    if (!response?._headerSent) {
      const status = STATUSES[error.code ?? ''] ?? 400
      onRefused?.(status, response ?? undefined)
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`)
    }
    begin(socket)
  })
}

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
  // Most requests are for the endpoint, whose path needs no parsing.
  const isProbe = (url: string | undefined): boolean =>
    url !== current.gateway.endpoint && isAt(url, current.gateway.probePaths)
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
