import type { HeaderList } from './hpack-decoder.ts'
import type { OutBuffer } from './out-buffer.ts'

/** The one who made a request. */
export interface StreamOwner {
  /** Writes the request's header block. @throws what `request` then throws; nothing is sent */
  writeHeaders(out: OutBuffer): void
  /** The response's headers, then perhaps its trailers. */
  onHeaders(headers: HeaderList, isEnd: boolean): void
  /** To be read now: the memory is used again. */
  onData(piece: Buffer): void
  /** All data given so far is on its way. */
  onDrain(): void
  /**
   * Nothing more comes: the peer reset the stream with this code, or, where there is a `fault`, the session did so, for
   * what the peer sent. Not after a reset of one's own.
   */
  onClose(code: number, fault?: string): void
}

/** The part of a session that its streams use. */
export interface StreamSession {
  send(stream: Http2Stream): void
  reset(stream: Http2Stream, code: number): void
  /** Lets the peer send so many bytes more. */
  widen(stream: Http2Stream, bytes: number): void
}

/** Bytes that one stream may hold unread: the 64 KiB of HTTP/2 make large replies wait. */
export const STREAM_WINDOW: number = 256 * 1024

/** One request and its response. */
export class Http2Stream {
  readonly id: number
  readonly owner: StreamOwner
  /** Bytes that may still be sent. */
  sendWindow: number
  /** Data that waits for a window, and whether the request ends with it. */
  readonly pending: Uint8Array[] = []
  isEnding = false
  /** The end of the request was written. */
  isLocalEnded = false
  isRemoteEnded = false
  isClosed = false
  hasResponse = false
  /** The next stream in the same bucket of the session's table. */
  next: Http2Stream | undefined
  /** Came since the window was last widened. */
  #received = 0
  #isPaused = false
  readonly #session: StreamSession

  constructor(id: number, owner: StreamOwner, sendWindow: number, session: StreamSession) {
    this.id = id
    this.owner = owner
    this.sendWindow = sendWindow
    this.#session = session
  }

  /** False where some of it has to wait; then `onDrain` is called. */
  send(bytes: Uint8Array, isEnd: boolean): boolean {
    if (this.isClosed || this.isEnding) return true
    if (bytes.length > 0 || isEnd) this.pending.push(bytes)
    this.isEnding = isEnd
    this.#session.send(this)
    return this.pending.length === 0
  }

  reset(code: number): void {
    this.#session.reset(this, code)
  }

  /** Lets the window run empty. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#widen()
  }

  /** Notes what came. False where it is more than the peer may send. */
  receive(bytes: number, isEnd: boolean): boolean {
    this.#received += bytes
    if (isEnd) this.isRemoteEnded = true
    if (this.#received > STREAM_WINDOW) return false
    this.#widen()
    return true
  }

  #widen(): void {
    if (this.#isPaused || this.isRemoteEnded || this.isClosed || this.#received < STREAM_WINDOW / 2) return
    this.#session.widen(this, this.#received)
    this.#received = 0
  }
}
