import type { Duplex } from 'node:stream'
import type { Clock } from '@vinyasa/base'
import type { WebSocket } from 'ws'
import type { Turns } from '../turns/line.ts'
import type { LiveSocket } from '../protocol/live-socket.ts'
import { MessageBudgets, type Repeatable } from '../protocol/message-budgets.ts'
import type { SocketBudget } from '../protocol/send-budget.ts'

/** Bytes that a waiting message costs beside its own, so that small ones do not pile up unread either. */
const MESSAGE_BYTES = 2048

/** A closed socket whose client has not answered by then is cut off. */
const CLOSE_TIMEOUT_MS = 3_000

export interface WsSocketOptions {
  readonly ws: WebSocket
  /** The connection below it. */
  readonly stream: Duplex
  readonly share: SocketBudget
  readonly clock: Clock
}

/** A socket of the library ws: bounded in what its client may send, and in what may wait for it. */
export class WsSocket implements LiveSocket {
  readonly #options: WsSocketOptions
  readonly #messages: MessageBudgets

  constructor(options: WsSocketOptions) {
    this.#options = options
    this.#messages = new MessageBudgets(options.clock.now)
  }

  get protocol(): string {
    return this.#options.ws.protocol
  }

  bufferedBytes(): number {
    return this.#options.ws.bufferedAmount
  }

  send(text: string, shared?: Buffer, done?: () => void): void {
    const { ws, stream, share } = this.#options
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
    stream.cork()
    ws.send(text, { fin: false })
    ws.send(shared, { binary: false }, onSent)
    stream.uncork()
  }

  close(code: number, reason: string): void {
    this.#options.ws.close(code, reason)
    this.#cutOffSoon()
  }

  /** Whether the client may send one more of these; one too many closes the socket. */
  take(what: Repeatable): boolean {
    const { ws } = this.#options
    if (this.#messages.take(what)) return true
    if (ws.readyState === ws.OPEN) this.close(1008, `Too many messages: ${what}`)
    else ws.terminate()
    return false
  }

  /** Gives each message of text to `receive` in its turn. What else a client may send is dealt with here. */
  onText(receive: (text: string) => void, turns: Turns): void {
    const { ws } = this.#options
    ws.on('message', (data, isBinary) => {
      if (ws.readyState !== ws.OPEN) return
      if (isBinary && !this.take('binary')) return
      if (isBinary) return this.close(4400, 'Invalid message received')
      turns.run(() => {
        if (ws.readyState === ws.OPEN) receive(String(data))
        if (ws.isPaused && turns.waiting === 0) ws.resume()
      })
      // Its messages wait for their turns where the client can see it: in its own buffers.
      if (turns.waiting > 0) ws.pause()
    })
    // A violation of the WebSocket protocol: ws closes with the code for it. The client's fault, so nothing to report.
    ws.on('error', () => this.#cutOffSoon())
    ws.on('ping', () => void this.take('ping frame'))
    ws.on('pong', () => void this.take('pong frame'))
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

  /** A client that does not answer the close frame would be kept for long. */
  #cutOffSoon(): void {
    const { ws, clock } = this.#options
    const timer = clock.setTimeout(() => ws.terminate(), CLOSE_TIMEOUT_MS)
    ws.once('close', () => clock.clearTimeout(timer))
    // The answer is read behind messages that will not be.
    ws.resume()
  }
}
