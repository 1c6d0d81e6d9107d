import { systemClock } from '@vinyasa/core'
import type { OnReadOpts, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { ErrorCode, Http2ProtocolError } from '../http2/codes.ts'
import { Http2Session } from '../http2/session.ts'
import type { Http2Stream, StreamOwner } from '../http2/stream.ts'
import type { ChannelOptions } from '../endpoint.ts'
import { explainLoss, foreignGreeting } from './wrong-protocol.ts'

export interface ConnectionOptions {
  /** Begins to connect. What comes from the peer goes to `onRead` instead of events. */
  openSocket(onRead: OnReadOpts): Socket
  /** Why a socket that has connected cannot be used. */
  checkSocket(socket: Socket): string | undefined
  /** 0: for ever. */
  readonly connectTimeoutMs: number
  /** Read anew for each ping. */
  keepalive(): ChannelOptions['keepalive']
  /** The server's SETTINGS came: calls may begin. */
  onReady(connection: Connection): void
  /** It takes no more calls; those that run may end. `reason` is undefined when the server asked for it politely. */
  onRetired(connection: Connection, reason: Error | undefined, wasReady: boolean): void
  /** A call ended, or the server takes another number of them. */
  onRoom(): void
  onTooManyPings(): void
  /** The peer sent more frames than it may. Told before `onRetired`, or after it. */
  onFlood(error: Error): void
}

const READ_BYTES = 64 * 1024
/** A server that acknowledges nothing for so long is taken to have read all. */
const MAX_UNREAD_MS = 1_000
/** Stream ids have 31 bits. */
const MAX_STREAM = 2 ** 31 - 2_001

/** One HTTP/2 session. It keeps the process alive only while it has calls. */
export class Connection {
  active = 0
  state: 'connecting' | 'ready' | 'retired' = 'connecting'
  /** Concurrent calls that the server takes. */
  limit: number = Infinity
  /** Calls above this stream were never looked at by the server. */
  lastStreamId: number = Infinity
  /** Did it fail before it stood because the peer never spoke? */
  isStuck = false
  readonly #options: ConnectionOptions
  readonly #session: Http2Session
  readonly #socket: Socket
  #stopConnecting: (() => void) | undefined
  #stopPinging: (() => void) | undefined
  #askTimer: unknown
  /** Streams that were reset and that the server knows of. */
  #readResets = 0
  #reason: Error | undefined
  #hasConnected = false
  #hasHeard = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    const socket = options.openSocket({
      // Without it every read takes 64 KiB of new memory.
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (bytes, buffer) => {
        this.#read(buffer.subarray(0, bytes) as Buffer)
        return true
      },
    })
    const session = new Http2Session(socket, {
      onSettings: (limit) => this.#onSettings(limit),
      onGoaway: (code, lastStream, data) => this.#onGoaway(code, lastStream, data),
      onClose: (error) => {
        this.#stopPinging?.()
        systemClock.clearTimeout(this.#askTimer)
        if (error instanceof Http2ProtocolError && error.code === ErrorCode.ENHANCE_YOUR_CALM)
          options.onFlood(error)
        const isUnheard = this.state === 'connecting' && !this.#hasHeard
        this.retire(isUnheard ? explainLoss(error, socket instanceof TLSSocket, this.#hasConnected) : error)
      },
    })
    this.#session = session
    this.#socket = socket
    if (options.connectTimeoutMs > 0) {
      this.#stopConnecting = countDown(options.connectTimeoutMs, () => this.#giveUpConnecting())
    }
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      this.#hasConnected = true
      const objection = options.checkSocket(socket)
      if (objection === undefined) session.start()
      else this.#destroy(new Error(objection))
    })
  }

  /** Why calls on it failed, if the connection as a whole did. */
  get failure(): Error | undefined {
    if (!this.#session.isDestroyed) return undefined
    return this.#reason ?? new Error('the connection was dropped')
  }

  /**
   * Begins a call.
   * @throws when the session takes no more, or what its owner throws
   */
  request(owner: StreamOwner): Http2Stream {
    const stream = this.#session.request(owner)
    if (this.active++ === 0) this.#wake()
    if (stream.id >= MAX_STREAM) this.retire(undefined)
    return stream
  }

  get takesCalls(): boolean {
    return !this.#session.isClosing && !this.#session.isDestroyed
  }

  /**
   * Whether the server takes another call. To it those that were given up are open until it has read that: Node's refuse a
   * call that comes together with the end of another. Where they alone stand before it, it is asked.
   */
  hasRoom(): boolean {
    if (this.state !== 'ready' || !this.takesCalls) return false
    const unread = this.#session.resets - this.#readResets
    if (this.active + unread < this.limit) return true
    if (this.active < this.limit) this.#askForRoom()
    return false
  }

  /** A call ended. */
  release(): void {
    if (--this.active === 0) this.#socket.unref()
    this.#options.onRoom()
  }

  /** Takes no more calls; closes when the last one has ended. */
  retire(reason: Error | undefined): void {
    this.#stopConnecting?.()
    if (this.state === 'retired') return
    const wasReady = this.state === 'ready'
    this.#reason = reason
    this.state = 'retired'
    this.#session.close()
    this.#options.onRetired(this, reason, wasReady)
  }

  #askForRoom(): void {
    if (this.#askTimer !== undefined) return
    const { resets } = this.#session
    const onRead = (): void => {
      if (this.#askTimer !== timer) return
      systemClock.clearTimeout(timer)
      this.#askTimer = undefined
      this.#readResets = resets
      this.#options.onRoom()
    }
    const timer = systemClock.setTimeout(onRead, MAX_UNREAD_MS)
    this.#askTimer = timer
    this.#session.askIfRead(onRead)
  }

  #read(bytes: Buffer): void {
    const foreign = this.#hasHeard ? undefined : foreignGreeting(bytes)
    this.#hasHeard = true
    if (foreign === undefined) this.#session.read(bytes)
    else this.#destroy(new Error(foreign))
  }

  #onSettings(limit: number): void {
    this.limit = limit
    // A server may allow more later: calls that wait for that hear of it.
    if (this.state !== 'connecting') return this.#options.onRoom()
    this.#stopConnecting?.()
    this.state = 'ready'
    this.#socket.unref()
    this.#options.onReady(this)
  }

  #onGoaway(code: number, lastStream: number, data: Buffer): void {
    this.lastStreamId = lastStream
    if (code === ErrorCode.ENHANCE_YOUR_CALM && data.toString() === 'too_many_pings') {
      this.#options.onTooManyPings()
    }
    this.retire(
      code === ErrorCode.NO_ERROR && this.state === 'ready'
        ? undefined
        : new Error(`the server closed the connection with HTTP/2 error code ${code}`),
    )
  }

  #destroy(reason: Error): void {
    this.retire(reason)
    this.#reason = reason
    this.#session.destroy(reason)
  }

  #giveUpConnecting(): void {
    this.isStuck = true
    this.#destroy(
      new Error(
        `the server did not start HTTP/2 within ${this.#options.connectTimeoutMs} ms (channel.connectTimeoutMs)`,
      ),
    )
  }

  #wake(): void {
    this.#socket.ref()
    const keepalive = this.#options.keepalive()
    // A connection that was idle for long may be dead: the call that wakes it does not wait to learn that.
    if (keepalive && !this.#stopPinging)
      this.#pingAfter(Math.max(1, this.#session.heardAt + keepalive.timeMs - systemClock.now()))
  }

  #pingAfter(ms: number): void {
    const timer = systemClock.setTimeout(() => this.#mayPing(), ms)
    this.#stopPinging = () => systemClock.clearTimeout(timer)
  }

  #mayPing(): void {
    this.#stopPinging = undefined
    const keepalive = this.#options.keepalive()
    if (this.active === 0 || !keepalive || this.#session.isDestroyed) return
    const silence = systemClock.now() - this.#session.heardAt
    if (silence < keepalive.timeMs) return this.#pingAfter(keepalive.timeMs - silence)
    const { timeoutMs } = keepalive
    const stop = countDown(timeoutMs, () =>
      this.#destroy(
        new Error(
          `the server did not respond to a keepalive ping within ${timeoutMs} ms (channel.keepalive.timeoutMs)`,
        ),
      ),
    )
    this.#stopPinging = stop
    this.#session.ping(() => {
      stop()
      if (this.#stopPinging === stop) this.#pingAfter(keepalive.timeMs)
    })
  }
}

/** Parts of a countdown. */
const PARTS = 4

/**
 * Calls back after a time, of which the process was busy for a quarter at most: one that was busy finds its timers due before
 * it reads what has long arrived. Returns what stops it.
 */
function countDown(ms: number, call: () => void): () => void {
  let parts = PARTS
  let timer: unknown
  const next = (): void => {
    if (parts-- > 0) timer = systemClock.setTimeout(next, ms / PARTS)
    else call()
  }
  next()
  return () => systemClock.clearTimeout(timer)
}
