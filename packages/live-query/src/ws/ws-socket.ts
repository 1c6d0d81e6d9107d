import type { Duplex } from 'node:stream'
import { type Clock, type Holding, processLedger } from '@vinyasa/core'
import type { RawData, WebSocket } from 'ws'
import type { Turns } from '../fair-turns.ts'
import { createMessageBudgets, type LiveSocket, type Repeatable } from '../protocol/messages.ts'

/** Memory of an idle socket in bytes. */
const SOCKET_BYTES = 16 * 1024

/** Memory of a waiting message, or of a fragment, in addition to its bytes. */
const MESSAGE_BYTES = 2048
const CHUNK_BYTES = 256

/** A socket over its limit is terminated if no data has left for this time. Bursts are therefore allowed. */
const STALLED_MS = 1_000

/** A closed socket is terminated if its client has not responded within this time. */
const CLOSE_TIMEOUT_MS = 3_000

export interface WsSocketOptions {
  readonly ws: WebSocket
  /** The connection of the socket. */
  readonly stream: Duplex
  readonly client: string
  readonly maxBufferedBytes: number
  readonly clock: Clock
}

/** A socket of the library ws, with limits for the client's messages and for buffered data. */
export class WsSocket implements LiveSocket {
  readonly #options: WsSocketOptions
  readonly #isWithinBudget: (what: Repeatable) => boolean
  readonly #memory: Holding
  #held = SOCKET_BYTES
  #unsent = 0
  #sentAt = 0
  #stallTimer: unknown
  /** Bytes of an incomplete message. */
  #arrived = 0
  /** Data of the last ping without a pong. */
  #ping: Buffer | undefined
  #isAnswering = false

  constructor(options: WsSocketOptions) {
    const { client, clock, ws } = options
    this.#options = options
    this.#isWithinBudget = createMessageBudgets(clock.now)
    this.#memory = processLedger().hold(client || undefined, this.#held, () => this.#drop())
    ws.once('close', () => {
      clock.clearTimeout(this.#stallTimer)
      this.#memory.release()
    })
  }

  get protocol(): string {
    return this.#options.ws.protocol
  }

  bufferedBytes(): number {
    return this.#options.ws.bufferedAmount
  }

  hold(bytes: number): void {
    this.#held += bytes
    this.#memory.resize(this.#held)
  }

  send(text: string, shared?: Buffer, done?: () => void): void {
    const { ws, stream } = this.#options
    if (ws.readyState !== ws.OPEN) return done?.()
    const onSent = this.#wait(text.length + (shared?.length ?? 0), done)
    if (!shared) return ws.send(text, onSent)
    // Both parts are fragments of one message (RFC 6455, section 5.4), so that the shared part is not copied for each
    // receiver.
    stream.cork()
    ws.send(text, { fin: false })
    ws.send(shared, { binary: false }, onSent)
    stream.uncork()
  }

  /** Counts a message as unsent. The returned function must be called when it is sent or dropped. */
  #wait(length: number, done?: () => void): () => void {
    const { clock, maxBufferedBytes } = this.#options
    const bytes = MESSAGE_BYTES + length
    if (this.#unsent === 0) this.#sentAt = clock.now()
    this.#unsent += bytes
    this.hold(bytes)
    if (this.#unsent > maxBufferedBytes) this.#stallTimer ??= clock.setTimeout(this.#look, STALLED_MS)
    return () => {
      this.#sentAt = clock.now()
      this.#unsent -= bytes
      this.hold(-bytes)
      done?.()
    }
  }

  readonly #look = (): void => {
    const { ws, clock, maxBufferedBytes } = this.#options
    this.#stallTimer = undefined
    if (this.#unsent <= maxBufferedBytes || ws.readyState === ws.CLOSED) return
    if (clock.now() - this.#sentAt >= STALLED_MS) ws.terminate()
    else this.#stallTimer = clock.setTimeout(this.#look, STALLED_MS)
  }

  close(code: number, reason: string): void {
    this.#options.ws.close(code, reason)
    this.#cutOffSoon()
  }

  /** Returns whether the client can send another one. If not, the socket is closed. */
  take(what: Repeatable): boolean {
    const { ws } = this.#options
    if (this.#isWithinBudget(what)) return true
    if (ws.readyState === ws.OPEN) this.close(1008, `Too many messages: ${what}`)
    else ws.terminate()
    return false
  }

  /** Calls `receive` for each text message in its turn. Other messages are handled here. */
  onText(receive: (text: string) => void, turns: Turns): void {
    const { ws, stream } = this.#options
    let lastChunk = 0
    const setArrived = (bytes: number): void => {
      this.hold(bytes - this.#arrived)
      this.#arrived = bytes
    }
    // This listener runs before the listener of ws.
    stream.prependListener('data', (chunk: Buffer) => {
      lastChunk = chunk.length
      setArrived(this.#arrived + CHUNK_BYTES + lastChunk)
    })
    ws.on('message', (data: RawData, isBinary) => {
      const message = data as Buffer
      // The remaining bytes can only belong to the last chunk.
      setArrived(Math.max(0, Math.min(lastChunk, this.#arrived - message.length - 2 * CHUNK_BYTES)))
      if (ws.readyState !== ws.OPEN) return
      if (isBinary && !this.take('binary')) return
      if (isBinary) return this.close(4400, 'Invalid message received')
      const bytes = CHUNK_BYTES + message.length
      this.hold(bytes)
      turns.run(() => {
        this.hold(-bytes)
        if (ws.readyState === ws.OPEN) receive(String(message))
        if (ws.isPaused && turns.waiting === 0) ws.resume()
      })
      // Further messages wait in the buffers of the client, which can detect this.
      if (turns.waiting > 0) ws.pause()
    })
    // A protocol violation. ws closes the socket with a code. It is an error of the client, so it is not reported.
    ws.on('error', () => this.#cutOffSoon())
    ws.on('ping', (data) => {
      if (this.take('ping frame')) this.#answerPing(data)
    })
    ws.on('pong', () => void this.take('pong frame'))
  }

  /** Sends one pong for all pings before it, with the data of the last ping (RFC 6455, section 5.5.3). */
  #answerPing(data: Buffer): void {
    // The copy does not keep the memory of the read chunk.
    this.#ping = Buffer.from(data)
    if (this.#isAnswering) return
    this.#isAnswering = true
    queueMicrotask(this.#sendPong)
  }

  readonly #sendPong = (): void => {
    const { ws } = this.#options
    const data = this.#ping
    this.#ping = undefined
    this.#isAnswering = data !== undefined && ws.readyState === ws.OPEN
    if (data && this.#isAnswering) ws.pong(data, false, this.#wait(data.length, this.#sendPong))
  }

  /**
   * Pings the client, and terminates the socket if the client has not responded before the next ping. Returns a
   * function that stops it.
   */
  keepAlive(intervalMs: number): () => void {
    if (intervalMs <= 0 || !Number.isFinite(intervalMs)) return () => {}
    const { ws, clock } = this.#options
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

  /** Releases the memory immediately, before the client responds. */
  #drop(): void {
    const { ws, stream } = this.#options
    ws.close(1013, 'This client uses too much memory')
    if (stream.writableLength > 0) ws.terminate()
    else stream.end(() => stream.destroy())
  }

  /** Terminates a client that does not respond to the close frame. */
  #cutOffSoon(): void {
    const { ws, clock } = this.#options
    const timer = clock.setTimeout(() => ws.terminate(), CLOSE_TIMEOUT_MS)
    ws.once('close', () => clock.clearTimeout(timer))
    // The response arrives after messages that are not processed.
    ws.resume()
  }
}
