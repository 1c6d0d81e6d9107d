import {
  constants,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { GrpcCallError } from '../status.ts'
import type { AbortWatch } from '../abort-watch.ts'
import type { TransportCall } from '../transport.ts'
import type { Connection } from './connection.ts'
import { compress, FrameReader, toFrame, type Encoding, type Message } from './frames.ts'
import type { PendingCall, Pool } from './pool.ts'
import { formatTimeout, httpStatusError, readStatus, resetError, type CallStatus } from './status.ts'

export interface CallSettings {
  readonly pool: Pool
  readonly aborts: AbortWatch
  readonly scheme: 'http' | 'https'
  readonly authority: string
  readonly maxReceiveBytes: number
  readonly maxSendBytes: number
  readonly compression: Encoding | undefined
}

/** What a call tells the one who made it. After `end` it is silent. */
export interface CallReceiver {
  message(message: Message): void
  end(error: GrpcCallError | undefined): void
}

export type Requests = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** The longest time that Node's timers can measure. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** One call: a stream, or a second one when the server refused the first unseen. */
export class Http2Call implements PendingCall {
  /** The reply's `grpc-encoding`. */
  encoding: string | undefined
  readonly #settings: CallSettings
  readonly #call: TransportCall
  readonly #receiver: CallReceiver
  /** One request as it is, or a sequence of them. */
  readonly #requests: Uint8Array | Requests
  readonly #deadline: number
  #timer: NodeJS.Timeout | undefined
  #connection: Connection | undefined
  #stream: ClientHttp2Stream | undefined
  #reader: FrameReader | undefined
  #response: IncomingHttpHeaders | undefined
  #status: CallStatus | undefined
  #error: Error | undefined
  #refusals = 0
  #hasEnded = false

  constructor(
    settings: CallSettings,
    call: TransportCall,
    requests: Uint8Array | Requests,
    receiver: CallReceiver,
  ) {
    this.#settings = settings
    this.#call = call
    this.#requests = requests
    this.#receiver = receiver
    this.#deadline = call.timeoutMs === undefined ? Infinity : Date.now() + call.timeoutMs
  }

  start(): void {
    const { signal, timeoutMs } = this.#call
    if (signal?.aborted)
      return this.end(new GrpcCallError('CANCELLED', 'the caller went away before the call began'))
    if (timeoutMs !== undefined && timeoutMs <= MAX_TIMER_MS) {
      this.#timer = setTimeout(this.#onDeadline, timeoutMs)
    }
    if (signal) this.#settings.aborts.add(signal, this.#onAbort)
    this.#settings.pool.run(this)
  }

  cancel(): void {
    this.end(new GrpcCallError('CANCELLED', 'the caller went away'))
  }

  pause(): void {
    this.#stream?.pause()
  }

  resume(): void {
    this.#stream?.resume()
  }

  fail(error: GrpcCallError): void {
    this.end(error)
  }

  begin(connection: Connection): void {
    let stream: ClientHttp2Stream
    try {
      stream = connection.request(this.#headers())
    } catch (error) {
      // The connection went away unnoticed: nothing was sent.
      if (connection.takesCalls)
        return this.end(new GrpcCallError('INTERNAL', String(error), { cause: error }))
      connection.retire(undefined)
      return this.#settings.pool.run(this)
    }
    this.#connection = connection
    this.#stream = stream
    const reader = new FrameReader(this.#settings.maxReceiveBytes, (message) => {
      if (!this.#hasEnded) this.#receiver.message(message)
    })
    this.#reader = reader
    stream.on('response', (headers, flags) => {
      connection.heard()
      this.#onResponse(headers, flags)
    })
    stream.on('data', (chunk: Buffer) => {
      connection.heard()
      if (this.#hasEnded) return
      try {
        reader.push(chunk)
      } catch (error) {
        this.end(error as GrpcCallError)
      }
    })
    stream.on('trailers', (headers) =>
      this.#onStatus(readStatus(headers) ?? { error: httpStatusError(this.#response ?? headers) }),
    )
    stream.on('error', (error) => (this.#error = error))
    stream.on('close', () => this.#onClose(stream, connection))
    if (this.#requests instanceof Uint8Array) this.#sendOnly(stream, this.#requests)
    else void this.#sendAll(stream, this.#requests)
  }

  /** Ends the call, with an error or well, and once. */
  end(error: GrpcCallError | undefined): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#timer)
    const { signal } = this.#call
    if (signal) this.#settings.aborts.delete(signal, this.#onAbort)
    const stream = this.#stream
    if (stream) {
      const isOver = this.#status !== undefined && stream.writableFinished
      if (!isOver && !stream.closed) stream.close(constants.NGHTTP2_CANCEL)
      this.#connection?.release()
    } else {
      this.#settings.pool.leave(this)
    }
    this.#receiver.end(error)
  }

  #headers(): OutgoingHttpHeaders {
    const { path, metadata } = this.#call
    const { scheme, authority, compression } = this.#settings
    // Written out: a copy of a prepared object costs several times as much.
    const headers: OutgoingHttpHeaders = {
      ':method': 'POST',
      ':scheme': scheme,
      ':authority': authority,
      ':path': path,
      te: 'trailers',
      'content-type': 'application/grpc',
      'user-agent': 'grpc-node-vinyasa',
      'grpc-accept-encoding': 'identity,deflate,gzip',
    }
    if (this.#deadline !== Infinity) headers['grpc-timeout'] = formatTimeout(this.#deadline - Date.now())
    if (compression !== undefined) headers['grpc-encoding'] = compression
    for (const [name, value] of metadata) {
      const text = typeof value === 'string' ? value : Buffer.from(value).toString('base64')
      const other = headers[name]
      headers[name] = other === undefined ? text : [other, text].flat().map(String)
    }
    return headers
  }

  readonly #onDeadline = (): void => {
    this.end(new GrpcCallError('DEADLINE_EXCEEDED', `no reply within ${this.#call.timeoutMs} ms`))
  }

  readonly #onAbort = (): void => this.cancel()

  #onResponse(headers: IncomingHttpHeaders, flags: number): void {
    if (this.#hasEnded) return
    this.#response = headers
    this.encoding = headers['grpc-encoding'] as string | undefined
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) {
      this.#onStatus(readStatus(headers) ?? { error: httpStatusError(headers) })
    } else if (!(headers['content-type'] ?? 'application/grpc').startsWith('application/grpc')) {
      // A proxy's page, not a gRPC server's reply.
      this.end(httpStatusError(headers))
    }
  }

  /** Messages that came before the status are handed on first. */
  #onStatus(status: CallStatus): void {
    if (this.#hasEnded) return
    this.#status = status
    if (this.#stream?.readableLength === 0) this.#complete()
    else this.#stream?.once('end', () => this.#complete())
  }

  #complete(): void {
    const error = this.#status?.error
    const isCut = error === undefined && this.#reader?.isBetweenMessages === false
    this.end(isCut ? new GrpcCallError('INTERNAL', 'the reply ends in the middle of a message') : error)
  }

  #onClose(stream: ClientHttp2Stream, connection: Connection): void {
    if (this.#hasEnded || stream !== this.#stream) return
    if (this.#status) return this.#complete()
    const { failure } = connection
    if (this.#isUnseen(stream, connection)) return this.#again(connection)
    if (failure) {
      const message = `the connection was lost: ${failure.message}`
      return this.end(new GrpcCallError('UNAVAILABLE', message, { cause: failure }))
    }
    if (this.#response && Number(this.#response[':status']) !== 200)
      return this.end(httpStatusError(this.#response))
    // A server that keeps the deadline itself may be a little earlier.
    if (stream.rstCode === constants.NGHTTP2_CANCEL && Date.now() >= this.#deadline) return this.#onDeadline()
    this.end(resetError(stream.rstCode, this.#error))
  }

  /** The server said that it did nothing for this call. */
  #isUnseen(stream: ClientHttp2Stream, connection: Connection): boolean {
    if (this.#response || this.#refusals > 0 || !isRepeatable(this.#requests)) return false
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return true
    return stream.id === undefined || stream.id > connection.lastStreamId
  }

  #again(connection: Connection): void {
    this.#refusals++
    this.#stream = undefined
    this.#connection = undefined
    connection.release()
    this.#settings.pool.run(this)
  }

  #sendOnly(stream: ClientHttp2Stream, request: Uint8Array): void {
    const { compression } = this.#settings
    if (!this.#allows(request)) return
    if (compression === undefined) stream.end(toFrame(request, false))
    else void this.#sendAll(stream, [request])
  }

  async #sendAll(stream: ClientHttp2Stream, requests: Requests): Promise<void> {
    const { compression } = this.#settings
    try {
      for await (const request of requests) {
        if (this.#hasEnded || !this.#allows(request)) return
        const body = compression === undefined ? request : await compress(request, compression)
        if (!stream.write(toFrame(body, compression !== undefined))) await drained(stream)
      }
      stream.end()
    } catch (cause) {
      this.end(new GrpcCallError('UNKNOWN', `the requests could not be read: ${String(cause)}`, { cause }))
    }
  }

  #allows(request: Uint8Array): boolean {
    const { maxSendBytes } = this.#settings
    if (maxSendBytes < 0 || request.length <= maxSendBytes) return true
    const message = `the request has ${request.length} bytes; channel.maxSendBytes allows ${maxSendBytes}`
    this.end(new GrpcCallError('RESOURCE_EXHAUSTED', message))
    return false
  }
}

function isRepeatable(requests: Uint8Array | Requests): boolean {
  return requests instanceof Uint8Array || Array.isArray(requests)
}

function drained(stream: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}
