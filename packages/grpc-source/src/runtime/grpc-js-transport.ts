import { type Abortable, onAbort, systemClock } from '@vinyasa/core'
import type { EventEmitter } from 'node:events'
import {
  Client,
  type ClientDuplexStream,
  Metadata,
  type ServiceError,
  compressionAlgorithms,
  connectivityState,
  credentials,
  type ChannelCredentials,
  type ChannelOptions as GrpcChannelOptions,
} from '@grpc/grpc-js'
import {
  GrpcCallError,
  LONGEST_TIMEOUT_MS,
  STATUS_NAMES,
  toReplyMetadata,
  type ResolvedEndpoint,
  type Transport,
  type TransportCall,
  type TlsOptions,
} from '@vinyasa/grpc-transport'

/** One connection, replaced when it gets stuck. */
interface Connection {
  readonly client: Client
  active: number
  /**
   * Call when a call begins: `giveUp` is called when the connection does not come to stand in time.
   * The returned function ends the watch.
   */
  watch(giveUp: () => void): () => void
  close(): void
}

function createConnection(endpoint: ResolvedEndpoint): Connection {
  const { connectTimeoutMs = 900 } = endpoint.channel
  const options = toChannelOptions(endpoint)
  const open = (): Client => new Client(endpoint.address, toCredentials(endpoint.tls), options)
  let client = open()
  const waiting = new Set<() => void>()
  let timer: unknown

  const state = (): connectivityState => client.getChannel().getConnectivityState(false)

  /** A peer that accepts TCP but never speaks HTTP/2 holds grpc-js in CONNECTING, and every later call with it. */
  function replaceIfStuck(): void {
    timer = undefined
    const calls = [...waiting]
    waiting.clear()
    if (state() !== connectivityState.CONNECTING) return
    const stuck = client
    client = open()
    for (const giveUp of calls) giveUp()
    stuck.close()
  }

  return {
    active: 0,
    get client() {
      return client
    },
    watch(giveUp) {
      if (connectTimeoutMs === 0 || state() === connectivityState.READY) return () => {}
      waiting.add(giveUp)
      timer ??= systemClock.setTimeout(replaceIfStuck, connectTimeoutMs)
      return () => waiting.delete(giveUp)
    },
    close() {
      systemClock.clearTimeout(timer)
      client.close()
    },
  }
}

function toChannelOptions({ channel, tls }: ResolvedEndpoint): GrpcChannelOptions {
  const { keepalive, maxReceiveBytes, maxSendBytes, compression, raw = {} } = channel
  return {
    // A connection of its own: shared subchannels would put all of a pool on one socket.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.min_reconnect_backoff_ms': 100,
    // Jitter adds a fifth: a restarted backend is found again within a second.
    'grpc.max_reconnect_backoff_ms': 700,
    'grpc.enable_retries': 0,
    'grpc.service_config': '{"loadBalancingConfig":[{"round_robin":{}}]}',
    'grpc.max_send_message_length': maxSendBytes ?? -1,
    ...(maxReceiveBytes === undefined ? {} : { 'grpc.max_receive_message_length': maxReceiveBytes }),
    ...(compression === undefined
      ? {}
      : { 'grpc.default_compression_algorithm': compressionAlgorithms[compression] }),
    ...(keepalive
      ? { 'grpc.keepalive_time_ms': keepalive.timeMs, 'grpc.keepalive_timeout_ms': keepalive.timeoutMs }
      : {}),
    ...(tls?.serverName === undefined
      ? {}
      : { 'grpc.ssl_target_name_override': tls.serverName, 'grpc.default_authority': tls.serverName }),
    ...raw,
  }
}

function toCredentials(tls: TlsOptions | undefined): ChannelCredentials {
  if (!tls) return credentials.createInsecure()
  const pem = (value: string | Uint8Array | undefined): Buffer | null =>
    value === undefined ? null : Buffer.from(value)
  return credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert))
}

function toMetadata(entries: readonly (readonly [string, string | Uint8Array])[]): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of entries)
    metadata.add(name, typeof value === 'string' ? value : Buffer.from(value))
  return metadata
}

const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const same = (bytes: Buffer): Buffer => bytes

/** The transport on grpc-js, with as many connections as concurrent calls need. */
export function createGrpcJsTransport(endpoint: ResolvedEndpoint): Transport<Abortable> {
  const { maxConcurrentCalls = 100, maxConnections = 8, compression } = endpoint.channel
  const isCompressed = compression !== undefined
  const connections: Connection[] = []

  function pick(): Connection {
    let least: Connection | undefined
    for (const connection of connections) {
      if (connection.active < maxConcurrentCalls) return connection
      if (!least || connection.active < least.active) least = connection
    }
    if (least && connections.length >= maxConnections) return least
    const opened = createConnection(endpoint)
    connections.push(opened)
    return opened
  }

  const begin = (): BegunCall => new BegunCall(pick(), endpoint)

  function unary(call: TransportCall<Abortable>, request: Uint8Array): Promise<Uint8Array> {
    const { path, signal } = call
    if (signal?.aborted)
      return Promise.reject(
        new GrpcCallError('CANCELLED', 'the client disconnected before the call started', { wasSent: false }),
      )
    return new Promise((resolve, reject) => {
      const begun = begin()
      const rpc = begun.client.makeUnaryRequest(
        path,
        asIs,
        same,
        request,
        toMetadata(call.metadata),
        callOptions(call),
        (error, reply) => {
          letGo?.()
          begun.end()
          if (error) reject(begun.stuck ?? toCallError(error, { largest: request.length, isCompressed }))
          else resolve(reply ?? new Uint8Array())
        },
      )
      begun.watch(rpc)
      listen(rpc, call)
      const letGo = signal && onAbort(signal, () => rpc.cancel())
    })
  }

  function stream(
    call: TransportCall<Abortable>,
    requests: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): AsyncIterableIterator<Uint8Array> {
    const { path, signal } = call
    const begun = begin()
    const single = Array.isArray(requests) && requests.length === 1 ? (requests[0] as Uint8Array) : undefined
    const options = callOptions(call)
    const sent: SentRequests = { largest: single?.length ?? 0, isCompressed }
    const rpc = single
      ? begun.client.makeServerStreamRequest(path, asIs, same, single, toMetadata(call.metadata), options)
      : begun.client.makeBidiStreamRequest(path, asIs, same, toMetadata(call.metadata), options)
    begun.watch(rpc)
    listen(rpc, call)
    if ('write' in rpc) void sendAll(rpc as ClientDuplexStream<Uint8Array, Buffer>, requests, sent)
    const letGo = signal && onAbort(signal, () => rpc.cancel())
    const finish = (): void => {
      letGo?.()
      begun.end()
    }
    rpc.on('error', finish)
    rpc.on('status', finish)
    const toError = (error: unknown): GrpcCallError => begun.stuck ?? toCallError(error, sent)
    return toIterator(rpc as NodeJS.ReadableStream & { cancel(): void }, toError)
  }

  return {
    unary,
    stream,
    close() {
      for (const connection of connections.splice(0)) connection.close()
    },
  }
}

/** A call that counts for its connection until it ends. */
class BegunCall {
  readonly client: Client
  /** Why the call was cancelled, if it was for its connection. */
  stuck: GrpcCallError | undefined
  private readonly connection: Connection
  private readonly endpoint: ResolvedEndpoint
  private hasEnded = false
  private unwatch: (() => void) | undefined

  constructor(connection: Connection, endpoint: ResolvedEndpoint) {
    this.client = connection.client
    this.connection = connection
    this.endpoint = endpoint
    connection.active++
  }

  /** `rpc` is cancelled when its connection does not come to stand. */
  watch(rpc: { cancel(): void }): void {
    this.unwatch = this.connection.watch(() => {
      this.stuck = noConnection(this.endpoint)
      rpc.cancel()
    })
  }

  end(): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.unwatch?.()
    this.connection.active--
  }
}

/** grpc-js counts by the wall clock, from the moment in which a call begins. What is longer ends no call: it has no timer for it. */
function callOptions({ timeoutMs }: Pick<TransportCall, 'timeoutMs'>): { deadline?: number } {
  if (timeoutMs === undefined || timeoutMs > LONGEST_TIMEOUT_MS) return {}
  return { deadline: systemClock.wallNow() + timeoutMs }
}

function listen(
  rpc: EventEmitter,
  { onHeaders, onTrailers }: Pick<TransportCall, 'onHeaders' | 'onTrailers'>,
): void {
  const tell = (listener: TransportCall['onHeaders'], metadata: Metadata): void => {
    try {
      listener?.(toReplyMetadata(valuesOf(metadata)))
    } catch {
      // A listener must not fail the call that it hears of.
    }
  }
  if (onHeaders) rpc.once('metadata', (metadata: Metadata) => tell(onHeaders, metadata))
  if (onTrailers) rpc.once('status', (status: { metadata: Metadata }) => tell(onTrailers, status.metadata))
}

function* valuesOf(metadata: Metadata): Iterable<readonly [string, string | Uint8Array]> {
  for (const [name, values] of Object.entries(metadata.toJSON()))
    for (const value of values) yield [name, value]
}

async function sendAll(
  rpc: ClientDuplexStream<Uint8Array, Buffer>,
  requests: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  sent: SentRequests,
): Promise<void> {
  for await (const request of requests) {
    sent.largest = Math.max(sent.largest, request.length)
    rpc.write(request)
  }
  rpc.end()
}

/**
 * Pulls from the stream's own buffer, which asks the socket for more only when it is read.
 * Not an async generator: there `return()` would wait for the message that never comes.
 */
function toIterator(
  rpc: NodeJS.ReadableStream & { cancel(): void },
  toError: (error: unknown) => GrpcCallError,
): AsyncIterableIterator<Uint8Array> {
  const messages = (rpc as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  const done = { done: true, value: undefined } as const
  let returned = false
  return {
    async next() {
      if (returned) return done
      try {
        return await messages.next()
      } catch (error) {
        if (returned) return done
        throw toError(error)
      }
    },
    async return() {
      returned = true
      rpc.cancel()
      return done
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function toCallError(error: unknown, sent: SentRequests): GrpcCallError {
  if (!isServiceError(error))
    return new GrpcCallError('UNKNOWN', error instanceof Error ? error.message : String(error), {
      cause: error,
    })
  const [details] = error.metadata?.get('grpc-status-details-bin') ?? []
  return new GrpcCallError(STATUS_NAMES[error.code] ?? 'UNKNOWN', error.details ?? error.message, {
    details: details instanceof Uint8Array ? details : undefined,
    ownLimit: ownLimit(error, sent),
    cause: error,
  })
}

/** What tells a reply that is too large from a request that the backend finds so. */
interface SentRequests {
  /** The bytes of the largest request so far. */
  largest: number
  readonly isCompressed: boolean
}

const TOO_LARGE_TO_READ =
  /^Received message (?:larger than max \((\d+) vs |that decompresses to a size larger than )(\d+)\)?$/
const TOO_LARGE_TO_SEND = /^Attempted to send message with a size larger than (\d+)$/

/** grpc-js tells of its own limits in words alone, in which its servers tell of a request that is over theirs. */
function ownLimit({ code, details }: ServiceError, sent: SentRequests): GrpcCallError['ownLimit'] {
  if (STATUS_NAMES[code] !== 'RESOURCE_EXHAUSTED') return undefined
  const [read, size, max] = TOO_LARGE_TO_READ.exec(details) ?? []
  if (read !== undefined) {
    // The size is that on the wire, which nobody knows here of what grpc-js compressed.
    const isOfRequest = sent.isCompressed ? sent.largest > Number(max) : sent.largest === Number(size)
    return isOfRequest ? undefined : { of: 'reply', maxBytes: Number(max) }
  }
  const [, toSend] = TOO_LARGE_TO_SEND.exec(details) ?? []
  return toSend === undefined ? undefined : { of: 'request', maxBytes: Number(toSend) }
}

function isServiceError(error: unknown): error is ServiceError & { metadata?: Metadata } {
  return error instanceof Error && 'code' in error && typeof error.code === 'number'
}

/** Another attempt would wait as long again, so it is not made. */
function noConnection({ address, channel: { connectTimeoutMs = 900 } }: ResolvedEndpoint): GrpcCallError {
  return new GrpcCallError(
    'UNAVAILABLE',
    `no HTTP/2 connection to ${address} was established within ${connectTimeoutMs} ms`,
    { retryable: false, wasSent: false },
  )
}
