import type { Duplex } from 'node:stream'
import { type Clock, type Holding, processLedger } from '@vinyasa/core'
import type { RawData, WebSocket } from 'ws'
import type { Turns } from '../fair-turns.ts'
import type { LiveSocket } from '../protocol/live-socket.ts'
import { createMessageBudgets, type Repeatable } from '../protocol/message-budgets.ts'

/** Memory of an idle socket. */
const SOCKET_BYTES = 16 * 1024

/** Memory of a message that waits, or of a piece of one, besides its bytes. */
const MESSAGE_BYTES = 2048
const CHUNK_BYTES = 256

/** A socket with more unsent than it may have is cut off once nothing has left for so long: a burst is no stall. */
const STALLED_MS = 1_000

/** A closed socket whose client has not answered by then is cut off. */
const CLOSE_TIMEOUT_MS = 3_000

export interface WsSocketOptions {
  readonly ws: WebSocket
  /** The connection below it. */
  readonly stream: Duplex
  readonly client: string
  readonly maxBufferedBytes: number
  readonly clock: Clock
}

/** A socket of the library ws: bounded in what its client may send, and in what is held for it. */
export class WsSocket implements LiveSocket {
  readonly #options: WsSocketOptions
  readonly #isWithinBudget: (what: Repeatable) => boolean
  readonly #memory: Holding
  #held = SOCKET_BYTES
  #unsent = 0
  #sentAt = 0
  #stallTimer: unknown
  /** Of a message that has not come as a whole. */
  #arrived = 0
  /** Data of the last ping that no pong has answered. */
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
    // Two fragments of one message (RFC 6455, section 5.4): what all receive is not copied for each.
    stream.cork()
    ws.send(text, { fin: false })
    ws.send(shared, { binary: false }, onSent)
    stream.uncork()
  }

  /** Counts a message as unsent; returns what to call when it has left, or never will. */
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

  /** Whether the client may send one more of these; one too many closes the socket. */
  take(what: Repeatable): boolean {
    const { ws } = this.#options
    if (this.#isWithinBudget(what)) return true
    if (ws.readyState === ws.OPEN) this.close(1008, `Too many messages: ${what}`)
    else ws.terminate()
    return false
  }

  /** Gives each message of text to `receive` in its turn. What else a client may send is dealt with here. */
  onText(receive: (text: string) => void, turns: Turns): void {
    const { ws, stream } = this.#options
    let lastChunk = 0
    const setArrived = (bytes: number): void => {
      this.hold(bytes - this.#arrived)
      this.#arrived = bytes
    }
    // Before ws reads it.
    stream.prependListener('data', (chunk: Buffer) => {
      lastChunk = chunk.length
      setArrived(this.#arrived + CHUNK_BYTES + lastChunk)
    })
    ws.on('message', (data: RawData, isBinary) => {
      const message = data as Buffer
      // What is left can only be of the last chunk.
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
      // Its messages wait for their turns where the client can see it: in its own buffers.
      if (turns.waiting > 0) ws.pause()
    })
    // A violation of the WebSocket protocol: ws closes with the code for it. The client's fault, so nothing to report.
    ws.on('error', () => this.#cutOffSoon())
    ws.on('ping', (data) => {
      if (this.take('ping frame')) this.#answerPing(data)
    })
    ws.on('pong', () => void this.take('pong frame'))
  }

  /** One pong answers all pings that come before it has left, with the data of the last one (RFC 6455, section 5.5.3). */
  #answerPing(data: Buffer): void {
    // A copy, which does not keep what was read with it.
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

  /** Pings the client, and cuts it off when it has not answered by the next ping. Returns how to stop. */
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

  /** Lets go of the memory at once, not when the client answers. */
  #drop(): void {
    const { ws, stream } = this.#options
    ws.close(1013, 'This client uses too much memory')
    if (stream.writableLength > 0) ws.terminate()
    else stream.end(() => stream.destroy())
  }

  /** A client that does not answer the close frame would be kept for long. */
  #cutOffSoon(): void {
    const { ws, clock } = this.#options
    const timer = clock.setTimeout(() => ws.terminate(), CLOSE_TIMEOUT_MS)
    ws.once('close', () => clock.clearTimeout(timer))
    // The answer is read behind messages that will not be.
    ws.resume()
  }
}
