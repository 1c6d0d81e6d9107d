import { systemClock } from '@vinyasa/core'
import type { Socket } from 'node:net'
import { ErrorCode, flowError, Http2ProtocolError, unexpected, wants } from './codes.ts'
import { ConnectionWindow, Outgoing } from './outgoing.ts'
import { FrameBudgets, Kind, SMALL_DATA_BYTES } from './frame-budgets.ts'
import { Flag, FrameParser, Type, unpadded, type FrameHandler } from './frame-parser.ts'
import { HeaderBlocks, MAX_HEADER_LIST_BYTES, TOO_MUCH, type HeaderBlock } from './header-blocks.ts'
import { DEFAULT_WINDOW, MAX_WINDOW, readSettings } from './settings.ts'
import { Http2Stream, STREAM_WINDOW, type StreamOwner, type StreamSession } from './stream.ts'
import { StreamTable } from './stream-table.ts'

export interface SessionEvents {
  /** SETTINGS came: streams may begin, so many at a time. */
  onSettings(maxStreams: number): void
  /** The peer takes no streams beyond this one; those it has not seen are closed as refused. */
  onGoaway(code: number, lastStream: number, data: Buffer): void
  /** The session is over; its streams are told afterwards. */
  onClose(error: Error): void
}

/**
 * The client's side of an HTTP/2 connection (RFC 9113), without push and priorities. Node's own costs several times as
 * much for calls as small as those of gRPC.
 */
export class Http2Session implements FrameHandler, StreamSession {
  /** When something last came from the peer. */
  heardAt = 0
  isDestroyed = false
  isClosing = false
  /** Streams that this side has reset. */
  resets = 0
  readonly #socket: Socket
  readonly #events: SessionEvents
  readonly #outgoing: Outgoing
  readonly #window: ConnectionWindow
  readonly #parser: FrameParser
  readonly #blocks = new HeaderBlocks()
  readonly #streams = new StreamTable()
  readonly #budgets = new FrameBudgets()
  readonly #pings: (() => void)[] = []
  readonly #acks: (() => void)[] = [() => {}] // The first is the greeting's.
  #nextId = 1
  #maxStreams = Infinity
  #initialWindow = DEFAULT_WINDOW
  #isSettled = false

  constructor(socket: Socket, events: SessionEvents) {
    this.#socket = socket
    this.#events = events
    this.#outgoing = new Outgoing(socket, DEFAULT_WINDOW)
    this.#window = new ConnectionWindow(this.#outgoing)
    this.#parser = new FrameParser(this)
    const left = (): void => this.destroy(new Error('the server closed the connection'))
    socket.on('error', (error) => this.destroy(error))
    socket.on('end', left).on('close', left)
  }

  /** Greets the peer, once the socket is connected. */
  start(): void {
    this.#outgoing.greet(STREAM_WINDOW, MAX_HEADER_LIST_BYTES)
    this.#window.open()
  }

  /** @throws when the session takes no more, or what the owner throws */
  request(owner: StreamOwner): Http2Stream {
    if (this.isClosing || this.isDestroyed) throw new Error('the HTTP/2 connection is closing')
    this.#outgoing.headers(this.#nextId, owner)
    const stream = new Http2Stream(this.#nextId, owner, this.#initialWindow, this)
    this.#streams.add(stream)
    this.#budgets.begin()
    this.#nextId += 2
    return stream
  }

  /** Takes what came from the socket; the memory may be used again afterwards. */
  read(chunk: Buffer): void {
    if (this.isDestroyed) return
    this.heardAt = systemClock.now()
    this.#budgets.at(this.heardAt, this.#streams.size)
    try {
      this.#parser.push(chunk)
    } catch (error) {
      if (error instanceof Http2ProtocolError) this.#outgoing.goaway(error.code)
      this.destroy(error as Error)
    }
  }

  ping(onAck: () => void): void {
    this.#pings.push(onAck)
    this.#outgoing.ping(0, Buffer.alloc(8))
  }

  /** Calls when the peer has read all that was sent. Not by a PING: gRPC's servers leave those who send them often. */
  askIfRead(onRead: () => void): void {
    this.#acks.push(onRead)
    this.#outgoing.askForAck()
  }

  /** Takes no more streams; those that run may end. */
  close(): void {
    this.isClosing = true
    this.#endIfDone()
  }

  destroy(error: Error): void {
    if (this.isDestroyed) return
    this.isDestroyed = true
    this.#outgoing.flush()
    this.#socket.destroy()
    this.#events.onClose(error)
    for (const stream of this.#streams.all()) this.#closeStream(stream, ErrorCode.CANCEL)
  }

  send(stream: Http2Stream): void {
    this.#outgoing.send(stream)
    // The peer may be done before it has all of a request.
    if (stream.isLocalEnded && stream.isRemoteEnded) this.#forget(stream)
  }

  reset(stream: Http2Stream, code: number): void {
    if (stream.isClosed) return
    this.#sendReset(stream, code)
    this.#forget(stream)
  }

  widen(stream: Http2Stream, bytes: number): void {
    this.#outgoing.widen(stream.id, bytes)
  }

  data(flags: number, id: number, piece: Buffer, isLast: boolean): void {
    if (this.isDestroyed) return
    if (!this.#isSettled || this.#blocks.open !== 0) throw unexpected(Type.DATA)
    this.#window.count(piece.length)
    const stream = this.#find(id, Type.DATA)
    if (!stream) return this.#budgets.count(Kind.UNWANTED_DATA, piece.length)
    if (piece.length < SMALL_DATA_BYTES)
      this.#budgets.count(piece.length === 0 ? Type.DATA : Kind.SMALL_DATA, 0)
    const isEnd = isLast && (flags & Flag.END_STREAM) !== 0
    if (!stream.hasResponse) return this.#refuse(stream, ErrorCode.PROTOCOL_ERROR, 'data before headers')
    if (!stream.receive(piece.length, isEnd))
      return this.#refuse(stream, ErrorCode.FLOW_CONTROL_ERROR, 'more data than HTTP/2 flow control allows')
    if (piece.length > 0) stream.owner.onData(piece)
    if (isEnd) this.#endStream(stream)
  }

  frame(type: number, flags: number, id: number, payload: Buffer): void {
    if (this.isDestroyed) return
    if (type !== Type.DATA) this.#budgets.count(Math.min(type, Kind.UNKNOWN), payload.length)
    const { open } = this.#blocks
    const isGreeting = type === Type.SETTINGS && (flags & Flag.ACK) === 0
    const isContinued = type === Type.CONTINUATION && id === open
    if ((!this.#isSettled && !isGreeting) || (open !== 0 || type === Type.CONTINUATION) !== isContinued)
      throw unexpected(type)
    switch (type) {
      case Type.DATA: {
        const piece = unpadded(flags, payload)
        // Padding counts as data does.
        this.#window.count(payload.length - piece.length)
        this.#streams.get(id)?.receive(payload.length - piece.length, false)
        return this.data(flags, id, piece, true)
      }
      case Type.HEADERS:
        return this.#onHeaders(this.#blocks.begin(flags, id, payload))
      case Type.CONTINUATION:
        return this.#onHeaders(this.#blocks.continue(flags, payload))
      case Type.RST_STREAM: {
        wants(payload.length === 4, type)
        const stream = this.#find(id, type)
        return stream && this.#closeStream(stream, payload.readUInt32BE(0))
      }
      case Type.SETTINGS:
        wants(id === 0 && (isGreeting || payload.length === 0), type)
        return isGreeting ? this.#onSettings(payload) : this.#acks.shift()?.()
      case Type.PING:
        wants(id === 0 && payload.length === 8, type)
        if ((flags & Flag.ACK) !== 0) return this.#pings.shift()?.()
        this.#outgoing.ping(Flag.ACK, payload)
        return this.#outgoing.checkUnsent()
      case Type.GOAWAY:
        wants(id === 0 && payload.length >= 8, type)
        return this.#onGoaway(payload)
      case Type.WINDOW_UPDATE:
        wants(payload.length === 4, type)
        return this.#onWindow(id, payload.readUInt32BE(0) & MAX_WINDOW)
      case Type.PUSH_PROMISE:
        throw unexpected(type)
      default:
      // Priorities are not for clients, and what is unknown is to be left out.
    }
  }

  #onHeaders(block: HeaderBlock | undefined): void {
    const stream = block && this.#find(block.stream, Type.HEADERS)
    if (!stream) return
    const { list, isEnd } = block
    if (isEnd) stream.isRemoteEnded = true
    if (!list) return this.#refuse(stream, ErrorCode.ENHANCE_YOUR_CALM, TOO_MUCH)
    if (!stream.hasResponse && !isEnd && list.get(':status')?.startsWith('1')) return
    // Headers that follow the data have to be the end.
    if (stream.hasResponse && !isEnd)
      return this.#refuse(stream, ErrorCode.PROTOCOL_ERROR, 'HTTP/2 trailers that do not end the stream')
    stream.hasResponse = true
    stream.owner.onHeaders(list, isEnd)
    if (isEnd) this.#endStream(stream)
  }

  #onSettings(payload: Buffer): void {
    const { maxStreams, initialWindow, maxFrameBytes } = readSettings(payload)
    if (maxStreams !== undefined) this.#maxStreams = maxStreams
    if (maxFrameBytes !== undefined) this.#outgoing.maxFrameBytes = maxFrameBytes
    if (initialWindow !== undefined) {
      const change = initialWindow - this.#initialWindow
      this.#initialWindow = initialWindow
      for (const stream of this.#streams.all()) stream.sendWindow += change
    }
    this.#isSettled = true
    this.#outgoing.acknowledgeSettings()
    this.#outgoing.checkUnsent()
    this.#events.onSettings(this.#maxStreams)
    this.#outgoing.sendWaiting()
  }

  #onGoaway(payload: Buffer): void {
    const last = payload.readUInt32BE(0) & MAX_WINDOW
    const code = payload.readUInt32BE(4)
    this.isClosing = true
    this.#events.onGoaway(code, last, payload.subarray(8))
    for (const stream of this.#streams.all())
      if (stream.id > last) this.#closeStream(stream, ErrorCode.REFUSED_STREAM)
    if (code !== ErrorCode.NO_ERROR)
      this.destroy(new Error(`the server closed the connection with HTTP/2 error code ${code}`))
    else this.#endIfDone()
  }

  #onWindow(id: number, bytes: number): void {
    wants(bytes > 0, Type.WINDOW_UPDATE)
    if (id === 0) {
      this.#outgoing.window += bytes
      if (this.#outgoing.window > MAX_WINDOW) throw flowError()
      return this.#outgoing.sendWaiting()
    }
    const stream = this.#find(id, Type.WINDOW_UPDATE)
    if (!stream) return
    stream.sendWindow += bytes
    if (stream.sendWindow > MAX_WINDOW)
      return this.#refuse(stream, ErrorCode.FLOW_CONTROL_ERROR, 'an HTTP/2 window larger than 2^31 - 1 bytes')
    this.send(stream)
  }

  /** Undefined for a stream that is over. */
  #find(id: number, type: number): Http2Stream | undefined {
    if (id === 0 || id % 2 === 0 || id >= this.#nextId) throw unexpected(type)
    return this.#streams.get(id)
  }

  /** The peer has said all: what it has not heard is of no use to it any more. */
  #endStream(stream: Http2Stream): void {
    if (stream.isClosed) return
    if (!stream.isLocalEnded) this.#sendReset(stream, ErrorCode.CANCEL)
    this.#closeStream(stream, ErrorCode.NO_ERROR)
  }

  /** Resets a stream, and forgives the peer as much data as its window holds: it may be under way. */
  #sendReset(stream: Http2Stream, code: number): void {
    this.resets++
    this.#outgoing.reset(stream.id, code)
    this.#budgets.forgive(Kind.UNWANTED_DATA, STREAM_WINDOW)
  }

  /** Ends a stream for what the peer sent on it. */
  #refuse(stream: Http2Stream, code: number, fault: string): void {
    if (!stream.isLocalEnded || !stream.isRemoteEnded) this.#sendReset(stream, code)
    this.#closeStream(stream, code, fault)
  }

  #closeStream(stream: Http2Stream, code: number, fault?: string): void {
    if (stream.isClosed) return
    this.#forget(stream)
    stream.owner.onClose(code, fault)
  }

  #forget(stream: Http2Stream): void {
    stream.isClosed = true
    this.#streams.delete(stream)
    this.#outgoing.forget(stream)
    this.#endIfDone()
  }

  #endIfDone(): void {
    if (!this.isClosing || this.isDestroyed || this.#streams.size > 0) return
    this.isDestroyed = true
    if (this.#isSettled) {
      this.#outgoing.goaway(ErrorCode.NO_ERROR)
      this.#outgoing.flush()
      this.#socket.destroySoon()
    } else this.#socket.destroy()
    this.#events.onClose(new Error('the connection was closed'))
  }
}
