import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { Socket } from 'node:net'

export interface Keepalive {
  readonly timeMs: number
  readonly timeoutMs: number
}

export interface ConnectionOptions {
  /** Begins to connect. */
  openSocket(): Socket
  /** Why a socket that has connected cannot be used. */
  checkSocket(socket: Socket): string | undefined
  /** 0: for ever. */
  readonly connectTimeoutMs: number
  /** Read anew for each ping. */
  keepalive(): Keepalive | undefined
  /** The server's SETTINGS came: calls may begin. */
  onReady(connection: Connection): void
  /** It takes no more calls; those that run may end. `reason` is undefined when the server asked for it politely. */
  onRetired(connection: Connection, reason: Error | undefined, wasReady: boolean): void
  /** A call ended. */
  onRoom(): void
  onTooManyPings(): void
}

export type ConnectionState = 'connecting' | 'ready' | 'retired'

/** What one stream may hold unread, and what may be under way on all of them: Node's 64 KiB make large replies wait. */
const STREAM_WINDOW = 256 * 1024
const CONNECTION_WINDOW = 4 * 1024 * 1024
/** Stream ids are odd and have 31 bits. */
const MAX_CALLS = 2 ** 30 - 1_000

const SETTINGS = { enablePush: false, initialWindowSize: STREAM_WINDOW }
const REQUEST = { endStream: false }

/** One HTTP/2 session. It keeps the process alive only while it has calls. */
export class Connection {
  active = 0
  state: ConnectionState = 'connecting'
  /** Concurrent calls that the server takes. */
  limit: number = Infinity
  /** Calls above this stream were never looked at by the server. */
  lastStreamId: number = Infinity
  /** Did it fail before it stood because the peer never spoke? */
  isStuck = false
  readonly #options: ConnectionOptions
  readonly #session: ClientHttp2Session
  #started = 0
  #heardAt = 0
  #connectTimer: NodeJS.Timeout | undefined
  #pingTimer: NodeJS.Timeout | undefined
  #reason: Error | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    const socket = options.openSocket()
    const session = connect('http://localhost', {
      createConnection: () => socket,
      settings: SETTINGS,
      // Flow control bounds it already.
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    })
    this.#session = session
    if (options.connectTimeoutMs > 0) {
      this.#connectTimer = setTimeout(() => this.#giveUpConnecting(), options.connectTimeoutMs)
    }
    session.once('connect', () => {
      const objection = options.checkSocket(socket)
      if (objection === undefined) session.setLocalWindowSize(CONNECTION_WINDOW)
      else this.#destroy(new Error(objection))
    })
    session.on('remoteSettings', ({ maxConcurrentStreams }) => {
      this.limit = maxConcurrentStreams ?? Infinity
      if (this.state !== 'connecting') return
      clearTimeout(this.#connectTimer)
      this.state = 'ready'
      this.heard()
      session.unref()
      options.onReady(this)
    })
    session.on('goaway', (code, lastStreamId, data) => {
      this.lastStreamId = lastStreamId ?? 0
      if (code === constants.NGHTTP2_ENHANCE_YOUR_CALM && data?.toString() === 'too_many_pings') {
        options.onTooManyPings()
      }
      this.retire(
        code === constants.NGHTTP2_NO_ERROR && this.state === 'ready'
          ? undefined
          : new Error(`the server closed the connection with code ${code}`),
      )
    })
    session.on('error', (error) => this.retire(error))
    session.on('close', () => {
      clearTimeout(this.#pingTimer)
      this.retire(new Error('the server closed the connection'))
    })
  }

  /** Why calls on it failed, if the connection as a whole did. */
  get failure(): Error | undefined {
    if (!this.#session.destroyed) return undefined
    return this.#reason ?? new Error('the connection was dropped')
  }

  /**
   * Begins a call.
   * @throws when the session takes no more, or Node the headers
   */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const stream = this.#session.request(headers, REQUEST)
    if (this.active++ === 0) this.#wake()
    if (++this.#started >= MAX_CALLS) this.retire(undefined)
    return stream
  }

  get takesCalls(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  /** A call ended. */
  release(): void {
    if (--this.active === 0) this.#session.unref()
    this.#options.onRoom()
  }

  /** Something came from the server. */
  heard(): void {
    this.#heardAt = Date.now()
  }

  /** Takes no more calls; closes when the last one has ended. */
  retire(reason: Error | undefined): void {
    clearTimeout(this.#connectTimer)
    if (this.state === 'retired') return
    const wasReady = this.state === 'ready'
    this.#reason = reason
    this.state = 'retired'
    this.#session.close()
    this.#options.onRetired(this, reason, wasReady)
  }

  #destroy(reason: Error): void {
    this.retire(reason)
    this.#reason = reason
    this.#session.destroy()
  }

  #giveUpConnecting(): void {
    this.isStuck = true
    this.#destroy(new Error(`it did not speak HTTP/2 within ${this.#options.connectTimeoutMs} ms`))
  }

  #wake(): void {
    this.#session.ref()
    const keepalive = this.#options.keepalive()
    // A connection that was idle for long may be dead: the call that wakes it does not wait to learn that.
    if (keepalive)
      this.#pingTimer ??= setTimeout(
        () => this.#mayPing(),
        Math.max(1, this.#heardAt + keepalive.timeMs - Date.now()),
      )
  }

  #mayPing(): void {
    this.#pingTimer = undefined
    const keepalive = this.#options.keepalive()
    if (this.active === 0 || !keepalive || this.#session.destroyed) return
    const silence = Date.now() - this.#heardAt
    if (silence < keepalive.timeMs) {
      this.#pingTimer = setTimeout(() => this.#mayPing(), keepalive.timeMs - silence)
      return
    }
    const { timeoutMs } = keepalive
    const lost = setTimeout(
      () => this.#destroy(new Error(`the server did not answer a ping within ${timeoutMs} ms`)),
      timeoutMs,
    )
    this.#pingTimer = lost
    this.#session.ping((error) => {
      clearTimeout(lost)
      if (error || this.#pingTimer !== lost) return
      this.heard()
      this.#pingTimer = setTimeout(() => this.#mayPing(), keepalive.timeMs)
    })
  }
}
