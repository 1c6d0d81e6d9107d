import {
  status as StatusCode,
  type Client,
  type ClientDuplexStream,
  type Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import type { ResolvedEndpoint } from '../options.ts'
import { createConnection, toMetadata, type Connection } from './grpc-js-connection.ts'
import { GrpcCallError, statusName } from './status.ts'
import type { Transport, TransportCall } from './transport.ts'

const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The transport on grpc-js, with as many connections as concurrent calls need. */
export function createGrpcJsTransport(endpoint: ResolvedEndpoint): Transport {
  const { maxConcurrentCalls = 100, maxConnections = 8 } = endpoint.channel
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

  function begin(): { client: Client; end: (code: StatusCode) => void } {
    const connection = pick()
    const { client } = connection
    connection.active++
    let ended = false
    return {
      client,
      end(code) {
        if (ended) return
        ended = true
        connection.active--
        connection.ended(client, code)
      },
    }
  }

  function unary(call: TransportCall, request: Uint8Array): Promise<Uint8Array> {
    const { path, signal } = call
    if (signal?.aborted) return Promise.reject(cancelled())
    return new Promise((resolve, reject) => {
      const { client, end } = begin()
      const rpc = client.makeUnaryRequest(
        path,
        asIs,
        (bytes: Buffer) => bytes,
        request,
        toMetadata(call.metadata),
        callOptions(call),
        (error, reply) => {
          signal?.removeEventListener('abort', cancel)
          end(error ? error.code : StatusCode.OK)
          if (error) reject(toCallError(error))
          else resolve(reply ?? new Uint8Array())
        },
      )
      const cancel = (): void => rpc.cancel()
      signal?.addEventListener('abort', cancel, { once: true })
    })
  }

  function stream(
    call: TransportCall,
    requests: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  ): AsyncIterableIterator<Uint8Array> {
    const { path, signal } = call
    const { client, end } = begin()
    const single = Array.isArray(requests) && requests.length === 1 ? (requests[0] as Uint8Array) : undefined
    const options = callOptions(call)
    const rpc = single
      ? client.makeServerStreamRequest(
          path,
          asIs,
          (bytes: Buffer) => bytes,
          single,
          toMetadata(call.metadata),
          options,
        )
      : client.makeBidiStreamRequest(path, asIs, (bytes: Buffer) => bytes, toMetadata(call.metadata), options)
    if ('write' in rpc) void sendAll(rpc as ClientDuplexStream<Uint8Array, Buffer>, requests)
    const cancel = (): void => rpc.cancel()
    if (signal?.aborted) cancel()
    signal?.addEventListener('abort', cancel, { once: true })
    const finish = (code: StatusCode): void => {
      signal?.removeEventListener('abort', cancel)
      end(code)
    }
    rpc.on('error', (error: ServiceError) => finish(error.code))
    rpc.on('status', ({ code }) => finish(code))
    return toIterator(rpc as NodeJS.ReadableStream & { cancel(): void })
  }

  return {
    unary,
    stream,
    close() {
      for (const connection of connections.splice(0)) connection.close()
    },
  }
}

function callOptions({ timeoutMs }: TransportCall): { deadline?: number } {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
}

async function sendAll(
  rpc: ClientDuplexStream<Uint8Array, Buffer>,
  requests: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  for await (const request of requests) rpc.write(request)
  rpc.end()
}

/**
 * Pulls from the stream's own buffer, which asks the socket for more only when it is read.
 * Not an async generator: there `return()` would wait for the message that never comes.
 */
function toIterator(rpc: NodeJS.ReadableStream & { cancel(): void }): AsyncIterableIterator<Uint8Array> {
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
        throw toCallError(error)
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

function toCallError(error: unknown): GrpcCallError {
  if (!isServiceError(error))
    return new GrpcCallError('UNKNOWN', error instanceof Error ? error.message : String(error), {
      cause: error,
    })
  const [details] = error.metadata?.get('grpc-status-details-bin') ?? []
  return new GrpcCallError(statusName(error.code), error.details ?? error.message, {
    details: details instanceof Uint8Array ? details : undefined,
    cause: error,
  })
}

function isServiceError(error: unknown): error is ServiceError & { metadata?: Metadata } {
  return error instanceof Error && 'code' in error && typeof error.code === 'number'
}

function cancelled(): GrpcCallError {
  return new GrpcCallError('CANCELLED', 'the caller went away before the call began')
}
