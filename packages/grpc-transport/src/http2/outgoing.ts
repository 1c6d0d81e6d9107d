import type { Socket } from 'node:net'
import { ErrorCode, flowError, Http2ProtocolError } from './codes.ts'
import { Flag, MAX_FRAME_BYTES, Type } from './frame-parser.ts'
import { OutBuffer } from './out-buffer.ts'
import type { Http2Stream, StreamOwner } from './stream.ts'
import { DEFAULT_WINDOW } from './settings.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** Unsent bytes from which on a peer that asks for more answers is left. */
const MAX_UNSENT_BYTES = 1024 * 1024
/** Data that is written to the socket at a time. */
const BATCH_BYTES = 64 * 1024
const ENABLE_PUSH = 2
const INITIAL_WINDOW_SIZE = 4
const MAX_HEADER_LIST_SIZE = 6

/** Sends frames to the peer. All that one turn of the event loop brings leaves in one write. */
export class Outgoing {
  /** The limits that the peer sets: bytes of data on all streams together, and bytes of one frame. */
  window: number
  maxFrameBytes: number = MAX_FRAME_BYTES
  readonly #socket: Socket
  readonly #out = new OutBuffer()
  /** Streams with data that waits. */
  readonly #waiting = new Set<Http2Stream>()
  #flushing: NodeJS.Immediate | undefined

  constructor(socket: Socket, window: number) {
    this.#socket = socket
    this.window = window
    socket.on('drain', () => this.sendWaiting())
  }

  /** @throws when the peer asks for answers and takes none */
  checkUnsent(): void {
    if (this.#out.length + this.#socket.writableLength > MAX_UNSENT_BYTES)
      throw new Http2ProtocolError(
        ErrorCode.ENHANCE_YOUR_CALM,
        'the server sends HTTP/2 control frames (PING, SETTINGS) but does not read the acknowledgements',
      )
  }

  /** Says how much the peer may send: on a stream before it is read, and in one header block. */
  greet(streamWindow: number, headerListBytes: number): void {
    const out = this.#out
    out.copy(PREFACE)
    out.frame(18, Type.SETTINGS, 0, 0)
    out.uint16(ENABLE_PUSH)
    out.uint32(0)
    out.uint16(INITIAL_WINDOW_SIZE)
    out.uint32(streamWindow)
    out.uint16(MAX_HEADER_LIST_SIZE)
    out.uint32(headerListBytes)
    this.#schedule()
  }

  /** Settings that change nothing. */
  askForAck(): void {
    this.#out.frame(0, Type.SETTINGS, 0, 0)
    this.#schedule()
  }

  acknowledgeSettings(): void {
    this.#out.frame(0, Type.SETTINGS, Flag.ACK, 0)
    this.#schedule()
  }

  ping(flags: number, payload: Uint8Array): void {
    this.#out.frame(8, Type.PING, flags, 0)
    this.#out.copy(payload)
    this.#schedule()
  }

  widen(stream: number, bytes: number): void {
    this.#out.frame(4, Type.WINDOW_UPDATE, 0, stream)
    this.#out.uint32(bytes)
    this.#schedule()
  }

  reset(stream: number, code: number): void {
    this.#out.frame(4, Type.RST_STREAM, 0, stream)
    this.#out.uint32(code)
    this.#schedule()
  }

  goaway(code: number): void {
    this.#out.frame(8, Type.GOAWAY, 0, 0)
    this.#out.uint32(0)
    this.#out.uint32(code)
    this.#schedule()
  }

  /** @throws what the owner throws; nothing is sent then */
  headers(stream: number, owner: StreamOwner): void {
    const out = this.#out
    const at = out.length
    try {
      out.frame(0, Type.HEADERS, Flag.END_HEADERS, stream)
      // The peer's decoder keeps nothing for us: said once, as its table may be smaller than it is by default.
      if (stream === 1) out.byte(NO_TABLE)
      owner.writeHeaders(out)
    } catch (error) {
      out.length = at
      throw error
    }
    const length = out.length - at - FRAME_BYTES
    if (length <= this.maxFrameBytes) out.resizeFrame(at, length)
    else this.#continue(at, stream)
    this.#schedule()
  }

  /** Sends what waits on a stream, as far as the windows and the socket allow. */
  send(stream: Http2Stream): void {
    const { pending } = stream
    for (let bytes = pending[0]; bytes !== undefined; bytes = pending[0]) {
      const room = Math.max(0, Math.min(stream.sendWindow, this.window, this.maxFrameBytes))
      const isCongested = this.#out.length > BATCH_BYTES || this.#socket.writableNeedDrain
      if (bytes.length > 0 && (room === 0 || isCongested)) {
        this.#waiting.add(stream)
        return
      }
      const count = Math.min(bytes.length, room)
      const isWhole = count === bytes.length
      const isEnd = isWhole && stream.isEnding && pending.length === 1
      this.#out.frame(count, Type.DATA, isEnd ? Flag.END_STREAM : 0, stream.id)
      this.#out.copy(isWhole ? bytes : bytes.subarray(0, count))
      stream.sendWindow -= count
      this.window -= count
      if (isWhole) pending.shift()
      else pending[0] = bytes.subarray(count)
      if (isEnd) stream.isLocalEnded = true
      this.#schedule()
    }
    if (this.#waiting.delete(stream)) stream.owner.onDrain()
  }

  sendWaiting(): void {
    for (const stream of this.#waiting) this.send(stream)
  }

  forget(stream: Http2Stream): void {
    this.#waiting.delete(stream)
  }

  /** Hands everything to the socket. */
  flush(): void {
    clearImmediate(this.#flushing)
    this.#flushing = undefined
    if (this.#out.length > 0 && this.#socket.writable) this.#socket.write(this.#out.take())
  }

  #schedule(): void {
    this.#flushing ??= setImmediate(() => {
      this.flush()
      if (this.#waiting.size > 0) this.sendWaiting()
    })
  }

  /** Cuts a header block that is too large for one frame. */
  #continue(at: number, stream: number): void {
    const out = this.#out
    const block = Buffer.from(out.bytes.subarray(at + FRAME_BYTES, out.length))
    out.length = at
    for (let from = 0; from < block.length; from += this.maxFrameBytes) {
      const part = block.subarray(from, from + this.maxFrameBytes)
      const isLast = from + part.length === block.length
      const type = from === 0 ? Type.HEADERS : Type.CONTINUATION
      out.frame(part.length, type, isLast ? Flag.END_HEADERS : 0, stream)
      out.copy(part)
    }
  }
}

const FRAME_BYTES = 9
/** A table of no bytes. */
const NO_TABLE = 0x20

/** Bytes that may be under way on all streams together. */
const CONNECTION_WINDOW = 4 * 1024 * 1024

/** The window for all streams together (RFC 9113, section 5.2), which is widened when half of it is used. */
export class ConnectionWindow {
  readonly #outgoing: Outgoing
  /** Came since it was last widened. */
  #received = 0

  constructor(outgoing: Outgoing) {
    this.#outgoing = outgoing
  }

  open(): void {
    this.#outgoing.widen(0, CONNECTION_WINDOW - DEFAULT_WINDOW)
  }

  /** @throws when the peer sent more than it may */
  count(bytes: number): void {
    this.#received += bytes
    if (this.#received > CONNECTION_WINDOW) throw flowError()
    if (this.#received < CONNECTION_WINDOW / 2) return
    this.#outgoing.widen(0, this.#received)
    this.#received = 0
  }
}
