import { type Abortable, processLedger, ReplyMemory } from '@vinyasa/core'
import type { ResolvedEndpoint } from '../endpoint.ts'
import { GrpcCallError } from '../status.ts'
import type { Transport, TransportCall } from '../transport.ts'
import { Http2Call, type CallReceiver, type CallSettings, type Requests } from './call.ts'
import { createConnector } from './connector.ts'
import { decompress, type Message } from './frames.ts'
import { MessageQueue } from './message-queue.ts'
import { Pool } from './pool.ts'
import { createHeadBlock } from './request-headers.ts'

/** The default of grpc-js. */
const MAX_RECEIVE_BYTES = 4 * 1024 * 1024
/** Bytes of long replies at once, above which most of them wait. */
const PACED_BYTES = 16 * 1024 * 1024

/**
 * Creates a transport on the built-in HTTP/2 client. It connects on the first call.
 * @throws GrpcTransportError if the address or a certificate is invalid
 */
export function createHttp2Transport(
  endpoint: ResolvedEndpoint,
  random: () => number = Math.random,
): Transport<Abortable> {
  const { maxConcurrentCalls = 100, maxConnections = 8, connectTimeoutMs = 900 } = endpoint.channel
  const { lookupEveryMs = 30_000 } = endpoint.channel
  const { maxReceiveBytes = MAX_RECEIVE_BYTES, maxSendBytes = -1, compression } = endpoint.channel
  const { target, scheme, authority, connection } = createConnector(endpoint)
  const pool = new Pool({
    target,
    connectTimeoutMs,
    lookupEveryMs,
    maxConcurrentCalls,
    maxConnections,
    random,
    connection,
  })
  const settings: CallSettings = {
    pool,
    head: createHeadBlock(scheme, authority),
    maxReceiveBytes,
    maxSendBytes,
    compression,
    random,
    memory: new ReplyMemory(processLedger(), PACED_BYTES),
  }

  async function unpacked(
    message: Uint8Array,
    encoding: string | undefined,
    call: TransportCall<Abortable>,
  ): Promise<Uint8Array> {
    const { bytes, held } = await decompress(message, encoding, maxReceiveBytes, call)
    if (held && call.keepReply) call.keepReply(held)
    else held?.leave()
    return bytes
  }

  function unary(call: TransportCall<Abortable>, request: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let reply: Message | undefined
      const receiver: CallReceiver = {
        message(message) {
          if (reply)
            running.end(new GrpcCallError('UNIMPLEMENTED', 'the server sent more than one response message'))
          else reply = message
        },
        end(error) {
          if (error) reject(error)
          else if (!reply)
            reject(
              new GrpcCallError(
                'UNIMPLEMENTED',
                'the server ended the call with status OK but without a response message',
              ),
            )
          else if (reply.isCompressed) resolve(unpacked(reply.bytes, running.encoding, call))
          else {
            const held = call.keepReply && running.takeMemory()
            if (held) call.keepReply(held)
            resolve(reply.bytes)
          }
        },
      }
      const running = new Http2Call(settings, call, request, receiver)
      running.start()
    })
  }

  function stream(call: TransportCall<Abortable>, requests: Requests): AsyncIterableIterator<Uint8Array> {
    const queue = new MessageQueue({
      plain: (message) =>
        message.isCompressed
          ? unpacked(message.bytes, running.encoding, call)
          : Promise.resolve(message.bytes),
      pause: () => running.pause(),
      resume: () => running.resume(),
      cancel: (error) => (error ? running.end(error) : running.cancel()),
    })
    const only = Array.isArray(requests) && requests.length === 1 ? (requests[0] as Uint8Array) : undefined
    const running = new Http2Call(settings, call, only ?? requests, queue, true)
    running.start()
    return queue
  }

  return { unary, stream, close: () => pool.close() }
}
