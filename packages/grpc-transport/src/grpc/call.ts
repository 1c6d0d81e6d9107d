import {
  type Abortable,
  type HeldReply,
  onAbort,
  type ReplyMemory,
  systemClock,
  ownerOfWork,
} from '@vinyasa/core'
import { ErrorCode } from '../http2/codes.ts'
import type { HeaderList } from '../http2/hpack-decoder.ts'
import type { OutBuffer } from '../http2/out-buffer.ts'
import type { Http2Stream, StreamOwner } from '../http2/stream.ts'
import { GrpcCallError } from '../status.ts'
import { toReplyMetadata } from '../reply-metadata.ts'
import type { Transport, TransportCall } from '../transport.ts'
import type { Connection } from './connection.ts'
import { compress, FrameReader, refused, toFrame, type Encoding, type Message } from './frames.ts'
import type { PendingCall, Pool } from './pool.ts'
import { writeFields, type HeadBlock } from './request-headers.ts'
import { formatTimeout, httpStatusError, readStatus, resetError } from './status.ts'

export interface CallSettings {
  readonly pool: Pool
  readonly head: HeadBlock
  readonly maxReceiveBytes: number
  readonly maxSendBytes: number
  readonly compression: Encoding | undefined
  readonly random: () => number
  readonly memory: ReplyMemory
}

/** The receiver of what a call tells. After `end` the call is silent. */
export interface CallReceiver {
  message(message: Message): void
  end(error: GrpcCallError | undefined): void
}

export type Requests = Parameters<Transport['stream']>[1]

const NOTHING = new Uint8Array()
const REFUSED = 'the server refused every attempt to start the call'

/** Pauses before a call that was refused unseen is sent again; the first time there is none. */
const FIRST_BACKOFF_MS = 20
const MAX_BACKOFF_MS = 500
/** Refusals that end a call where no deadline does: after about eight seconds. */
const MAX_REFUSALS = 20

/** One call: a stream, and another one whenever the server refused the last unseen. */
export class Http2Call implements PendingCall, StreamOwner {
  /** The reply's `grpc-encoding`. */
  encoding: string | undefined
  readonly isEndless: boolean
  readonly #isStream: boolean
  readonly #settings: CallSettings
  readonly #call: TransportCall<Abortable>
  readonly #receiver: CallReceiver
  /** One request as it is, or a sequence of them. */
  readonly #requests: Uint8Array | Requests
  readonly #deadline: number
  #timer: unknown
  #backoff: unknown
  #letGo: (() => void) | undefined
  #connection: Connection | undefined
  #stream: Http2Stream | undefined
  #reader: FrameReader | undefined
  /** The memory of a message above 256 KiB, while it arrives and until it was read. */
  #held: HeldReply | undefined
  #heldBytes = 0
  #response: HeaderList | undefined
  #drain: (() => void) | undefined
  #refusals = 0
  #hasEnded = false

  constructor(
    settings: CallSettings,
    call: TransportCall<Abortable>,
    requests: Uint8Array | Requests,
    receiver: CallReceiver,
    isStream = false,
  ) {
    this.#isStream = isStream
    this.isEndless = isStream && call.timeoutMs === undefined
    this.#settings = settings
    this.#call = call
    this.#requests = requests
    this.#receiver = receiver
    this.#deadline = call.timeoutMs === undefined ? Infinity : systemClock.now() + call.timeoutMs
  }

  start(): void {
    const { signal, timeoutMs } = this.#call
    if (signal?.aborted)
      return this.end(
        new GrpcCallError('CANCELLED', 'the call was cancelled before it started', { wasSent: false }),
      )
    if (this.#requests instanceof Uint8Array && !this.#allows(this.#requests)) return
    if (timeoutMs !== undefined) this.#timer = systemClock.setTimeout(this.#onDeadline, timeoutMs)
    if (signal) this.#letGo = onAbort(signal, () => this.cancel())
    this.#settings.pool.run(this)
  }

  get caller(): unknown {
    return this.#call.caller
  }

  cancel(): void {
    this.end(
      new GrpcCallError('CANCELLED', 'the call was cancelled', { wasSent: this.#stream !== undefined }),
    )
  }

  pause(): void {
    this.#stream?.pause()
  }

  resume(): void {
    this.#stream?.resume()
  }

  begin(connection: Connection): void {
    let stream: Http2Stream
    try {
      stream = connection.request(this)
    } catch (error) {
      // The connection went away unnoticed: nothing was sent.
      if (connection.takesCalls)
        return this.end(new GrpcCallError('INTERNAL', String(error), { cause: error }))
      connection.retire(undefined)
      return this.#settings.pool.run(this)
    }
    this.#connection = connection
    this.#stream = stream
    const { maxReceiveBytes, memory } = this.#settings
    this.#reader = new FrameReader(maxReceiveBytes, this.#onMessage, memory, this.#onGrow)
    const requests = this.#requests
    if (!(requests instanceof Uint8Array)) void this.#sendAll(stream, requests)
    else if (this.#settings.compression !== undefined) void this.#sendAll(stream, [requests])
    else stream.send(toFrame(requests, false), true)
  }

  writeHeaders(out: OutBuffer): void {
    const { path, metadata } = this.#call
    const { head, compression } = this.#settings
    out.copy(head(path))
    const timeout = formatTimeout(this.#deadline - systemClock.now())
    if (timeout !== undefined) out.field('grpc-timeout', timeout)
    if (compression !== undefined) out.field('grpc-encoding', compression)
    writeFields(out, metadata)
  }

  onHeaders(headers: HeaderList, isEnd: boolean): void {
    if (this.#hasEnded) return
    if (this.#response) {
      tell(this.#call.onTrailers, headers)
      return this.#complete(readStatus(headers, this.#response))
    }
    this.#response = headers
    this.encoding = headers.get('grpc-encoding')
    tell(isEnd ? this.#call.onTrailers : this.#call.onHeaders, headers)
    if (isEnd) this.#complete(readStatus(headers, headers))
    else if (!(headers.get('content-type') ?? 'application/grpc').startsWith('application/grpc')) {
      // A proxy's page, not a gRPC server's reply.
      this.end(httpStatusError(headers))
    }
  }

  onData(piece: Buffer): void {
    if (this.#hasEnded) return
    try {
      this.#reader?.push(piece)
    } catch (error) {
      this.end(error as GrpcCallError)
    }
  }

  onDrain(): void {
    this.#drain?.()
  }

  onClose(code: number, fault?: string): void {
    this.#drain?.()
    const connection = this.#connection
    if (this.#hasEnded || !connection) return
    if (fault !== undefined) return this.end(new GrpcCallError('INTERNAL', `the server sent ${fault}`))
    if (this.#isUnseen(code, connection)) return this.#again(connection)
    const { failure } = connection
    if (failure) {
      const message = `the connection was lost: ${failure.message}`
      return this.end(new GrpcCallError('UNAVAILABLE', message, { cause: failure }))
    }
    if (this.#response && Number(this.#response.get(':status')) !== 200)
      return this.end(httpStatusError(this.#response))
    // A server that keeps the deadline itself may be a little earlier.
    if (code === ErrorCode.CANCEL && systemClock.now() >= this.#deadline) return this.#onDeadline()
    this.end(resetError(code))
  }

  /** Ends the call, with an error or well, and once. */
  end(error: GrpcCallError | undefined): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    systemClock.clearTimeout(this.#timer)
    systemClock.clearTimeout(this.#backoff)
    this.#letGo?.()
    const stream = this.#stream
    // Whoever waits for room finds its place free.
    if (!stream || this.isEndless) this.#settings.pool.leave(this)
    if (stream) {
      // Before the next call begins: at the server a stream is open until both ends have come.
      if (!stream.isRemoteEnded || !stream.isLocalEnded) stream.reset(ErrorCode.CANCEL)
      this.#connection?.release()
    }
    this.#receiver.end(error)
    this.takeMemory()?.leave()
  }

  /** Returns the memory of a long reply, for the caller to leave. */
  takeMemory(): HeldReply | undefined {
    const held = this.#held
    this.#held = undefined
    this.#heldBytes = 0
    return held
  }

  readonly #onDeadline = (): void => {
    const message = `no reply within ${this.#call.timeoutMs} ms`
    this.end(new GrpcCallError('DEADLINE_EXCEEDED', message, { wasSent: this.#stream !== undefined }))
  }

  readonly #onMessage = (message: Message): void => {
    if (this.#hasEnded) return
    // The only reply of a call stays until the call ends; its reader pulls the messages of a stream.
    if (this.#isStream) this.takeMemory()?.leave()
    this.#receiver.message(message)
  }

  readonly #onGrow = (bytes: number): void => {
    if (this.#hasEnded) return
    // The reader of a stream paces it.
    this.#held ??= this.#settings.memory.enter(ownerOfWork(this.#call.caller), {
      pause: () => this.#isStream || this.pause(),
      resume: () => this.#isStream || this.resume(),
      refuse: () => this.end(refused()),
    })
    const more = bytes - this.#heldBytes
    this.#heldBytes = bytes
    this.#held.add(more)
  }

  #complete(error: GrpcCallError | undefined): void {
    const isCut = error === undefined && this.#reader?.isBetweenMessages === false
    this.end(isCut ? new GrpcCallError('INTERNAL', 'the reply ends in the middle of a message') : error)
  }

  /** The server said that it did nothing for this call. */
  #isUnseen(code: number, connection: Connection): boolean {
    const requests = this.#requests
    if (this.#response || !(requests instanceof Uint8Array || Array.isArray(requests))) return false
    return code === ErrorCode.REFUSED_STREAM || (this.#stream?.id ?? 0) > connection.lastStreamId
  }

  /** Until the deadline; ever more seldom, for a server that refuses has too much to do as it is. */
  #again(connection: Connection): void {
    const { pool, random } = this.#settings
    const refusals = this.#refusals++
    this.#stream = undefined
    this.#connection = undefined
    connection.release()
    if (refusals === 0) return pool.run(this)
    const longest = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (refusals - 1))
    const pauseMs = longest * (0.5 + random() / 2)
    const isOver =
      this.#deadline === Infinity ? refusals >= MAX_REFUSALS : systemClock.now() + pauseMs >= this.#deadline
    if (isOver) return this.end(new GrpcCallError('UNAVAILABLE', REFUSED, { retryable: false }))
    this.#backoff = systemClock.setTimeout(() => pool.run(this), pauseMs)
  }

  async #sendAll(stream: Http2Stream, requests: Requests): Promise<void> {
    const { compression } = this.#settings
    try {
      for await (const request of requests) {
        if (this.#hasEnded || !this.#allows(request)) return
        const body = compression === undefined ? request : await compress(request, compression)
        if (!stream.send(toFrame(body, compression !== undefined), false))
          await new Promise<void>((resolve) => (this.#drain = resolve))
      }
      stream.send(NOTHING, true)
    } catch (cause) {
      this.end(new GrpcCallError('UNKNOWN', `the requests could not be sent (${String(cause)})`, { cause }))
    }
  }

  #allows(request: Uint8Array): boolean {
    const { maxSendBytes } = this.#settings
    if (maxSendBytes < 0 || request.length <= maxSendBytes) return true
    const message = `the request has ${request.length} bytes, but channel.maxSendBytes allows only ${maxSendBytes}`
    const ownLimit = { of: 'request', maxBytes: maxSendBytes } as const
    const wasSent = this.#stream !== undefined
    this.end(new GrpcCallError('RESOURCE_EXHAUSTED', message, { wasSent, ownLimit }))
    return false
  }
}

function tell(listener: TransportCall['onHeaders'], headers: HeaderList): void {
  try {
    listener?.(toReplyMetadata(headers))
  } catch {
    // A listener must not fail the connection that it hears of.
  }
}
