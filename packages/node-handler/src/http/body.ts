import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { clientOf, type Holding, isShredded, processLedger } from '@vinyasa/core'
import { bodyAlreadyRead, clientLeft } from '../errors.ts'

/** Throws if a body with this number of bytes is too large. */
export type CheckSize = (bytes: number) => void

/**
 * Reads the complete body. If `check` throws, the promise rejects, the received bytes are freed, and later bytes are
 * dropped.
 */
export function readBody(request: IncomingMessage, check: CheckSize | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.readableEnded) throw bodyAlreadyRead()
    if (request.destroyed) {
      resolve(Buffer.alloc(0))
      return
    }
    const announced = request.headers['content-length']
    if (announced !== undefined) check?.(Number(announced))
    const chunks: Buffer[] = []
    let bytes = 0
    let refused = false
    request.on('data', (chunk: Buffer) => {
      if (refused) return
      bytes += chunk.length
      try {
        check?.(bytes)
        chunks.push(chunk)
      } catch (error) {
        refused = true
        chunks.length = 0
        reject(error)
      }
    })
    // The connection ended. This is not an error of the server, so it is not logged.
    request.on('error', () => reject(clientLeft()))
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
  })
}

/** Checks the size of a body that is read as a stream. */
export async function* countedBody(
  chunks: AsyncIterable<Buffer>,
  check: CheckSize,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    check(bytes)
    yield chunk
  }
}

/** Bodies up to this number of bytes are not counted if they arrive in one chunk. */
const LARGE = 4_096
/** Memory in bytes of a chunk without its content, and of a JSON item. Items are counted in every 61st byte. */
const [CHUNK_BYTES, ITEM_BYTES, STRIDE] = [400, 64, 61] as const

const SHREDDED = 'The request body arrived in too many small chunks. Send larger chunks.'
const OVERLOADED = 'The server has reached its memory limit for requests. Try again later.'

const RESPONSE: unique symbol = Symbol('response')
type Guarded = IncomingMessage & { [RESPONSE]: ServerResponse }
const streamed = new WeakSet<object>()

/** Sets whether further bytes of a body are streamed. By default, the bytes are kept and counted. */
export function streamBody(request: object, isStreamed: boolean): void {
  if (isStreamed) streamed.add(request)
  else streamed.delete(request)
}

/**
 * Counts the memory of a request body and of the values parsed from it in `processLedger`, until the response is
 * over. A body in tiny chunks gets 400. A body that is dropped because the ledger is full gets 503. The connection is
 * closed in both cases. Call it in the `request` listener before the body is read.
 */
export function guardBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers, httpVersionMajor, socket } = request
  if (Object.hasOwn(request, 'push') || (!hasBody(headers) && httpVersionMajor < 2)) return
  // A closure for each request would cost more than the rest of this function.
  request.push = firstPush
  ;(request as Guarded)[RESPONSE] = response
  if (headers['transfer-encoding'] === undefined) return
  // Parsing the rest of a chunked body can take long, unless the current socket read contains it.
  response.once('close', () => setImmediate(() => void (request.complete || socket.destroySoon())))
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  return (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
}

function firstPush(this: Guarded, chunk: Buffer | null): boolean {
  const isSmall = !chunk || (chunk.length <= LARGE && chunk.length === Number(this.headers['content-length']))
  if (isSmall) return Readable.prototype.push.call(this, chunk)
  this.push = countingPush(this, this[RESPONSE])
  return this.push(chunk)
}

function countingPush(request: IncomingMessage, response: ServerResponse): Readable['push'] {
  let [chunks, bytes, held, parsed, isRefused] = [0, 0, 0, 0, false]
  let holding: Holding | undefined

  function refuse(status: number, code: string, message: string): void {
    isRefused = true
    // The HTTP parser of this connection, or of another connection that needs memory, is still running.
    setImmediate(() => endRequest(request, response, status, { message, extensions: { code } }))
  }

  function hold(): Holding {
    const drop = (): void => refuse(503, 'OVERLOADED', OVERLOADED)
    const added = processLedger().hold(clientOf({ req: request }) ?? request.socket, 0, drop)
    response.once('close', () => added.release())
    return added
  }

  function count(chunk: Buffer): void {
    bytes += chunk.length
    if (isShredded(++chunks, bytes)) return refuse(400, 'BAD_REQUEST', SHREDDED)
    if (response.closed || streamed.has(request)) return
    held += chunk.length + CHUNK_BYTES
    parsed += parsedBytes(chunk)
    if (chunks > 1 || bytes > LARGE) (holding ??= hold()).resize(held)
  }

  return (chunk: Buffer | null) => {
    if (isRefused) return false
    if (chunk) count(chunk)
    else holding?.resize(held + parsed)
    return !isRefused && Readable.prototype.push.call(request, chunk)
  }
}

/** Estimates the memory of the strings and items that are parsed from a part of a JSON body. */
function parsedBytes(chunk: Buffer): number {
  let items = 0
  // If clients could predict the sampled bytes, they could hide items.
  for (let at = Math.floor(Math.random() * STRIDE); at < chunk.length; at += STRIDE) {
    const byte = chunk[at]
    if (byte === 0x2c || byte === 0x5b || byte === 0x7b) items += STRIDE
  }
  return 2 * chunk.length + ITEM_BYTES * items
}

/** Sends an error response, aborts the work for the request, and frees the received bytes. */
function endRequest(request: IncomingMessage, response: ServerResponse, status: number, error: object): void {
  if (response.closed && request.complete) return
  // If a socket is destroyed while it has unread bytes, it is reset, and the client can lose the response.
  if (status === 400 && response.writableEnded) return void request.socket.destroySoon()
  if (response.headersSent || !(response instanceof ServerResponse)) return void request.socket.destroy()
  // Later readers check this property, and existing listeners receive the event.
  Object.defineProperty(request, 'aborted', { value: true })
  if (response.listenerCount('error') > 0) response.emit('error', clientLeft())
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    connection: 'close',
    'retry-after': '1',
  }
  response.writeHead(status, headers).end(JSON.stringify({ errors: [error] }))
  // The socket must stay open, because it sends the response. The listeners hold the received bytes.
  request._destroy = (reason, done) => done(request.listenerCount('error') > 0 ? reason : null)
  request.once('close', () => request.removeAllListeners()).destroy(clientLeft())
}
