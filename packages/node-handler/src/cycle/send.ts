import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { PartStream, StreamPart } from '@vinyasa/core/pipeline'
import { sendNodeResponse } from '@whatwg-node/server'
import type { MaybePromise } from '@vinyasa/core'
import { headersOf, isLightResponse, type LightBody } from '../http/light-response.ts'

/**
 * Sends a response whose head is complete. Each part is one write, and the last part also ends the response. The next
 * part is requested when the socket has room. No part is requested after the client has disconnected.
 */
export function sendParts(
  stream: PartStream,
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
  onPart: (part: unknown) => void,
): void {
  const { next, leave } = stream
  // Yoga does the same for streams. Pauses between parts can be long, and small parts must not be delayed.
  socket.setTimeout(0)
  socket.setNoDelay(true)
  // Without the explicit delay, Node queries the kernel again for each response.
  socket.setKeepAlive(true, 0)
  if (outgoing.listenerCount('pipe') > 0) return pipeParts(stream, outgoing, onPart)
  outgoing.once('close', leave)
  const takeNext = (): void => void next().then(write)
  const write = ({ text, isLast, part }: StreamPart): void => {
    if (outgoing.destroyed) return
    if (isLast) {
      outgoing.end(text)
      onPart(part)
      leave()
      return
    }
    const hasRoom = outgoing.write(text)
    // Node buffers the pieces of a chunk until the end of the tick, in which the next part already starts.
    outgoing.socket?.uncork()
    onPart(part)
    if (hasRoom) takeNext()
    else outgoing.once('drain', takeNext)
  }
  takeNext()
}

/**
 * Pipes the parts for hosts such as H3. These hosts detect by the event `pipe` that a response continues after the
 * promise of the handler, and otherwise end the response.
 */
function pipeParts(stream: PartStream, outgoing: ServerResponse, onPart: (part: unknown) => void): void {
  const source = Readable.from(textsOf(stream, onPart), { highWaterMark: 1 })
  // Parts contain their errors, so that the source does not fail.
  source.on('error', () => outgoing.destroy())
  outgoing.once('close', () => {
    stream.leave()
    source.destroy()
  })
  source.pipe(outgoing)
}

async function* textsOf(
  { next, leave }: PartStream,
  onPart: (part: unknown) => void,
): AsyncGenerator<StreamPart['text']> {
  try {
    for (let isLast = false; !isLast;) {
      const given = await next()
      isLast = given.isLast
      yield given.text
      onPart(given.part)
    }
  } finally {
    leave()
  }
}

/** Sends a response as Yoga does. If the body is a string or a Buffer, the head and the body are written together. */
export function sendResponse(
  response: Response,
  outgoing: ServerResponse,
  incoming: IncomingMessage,
): MaybePromise<void> {
  if (outgoing.closed || outgoing.destroyed || outgoing.writableEnded) return endUnsent(response)
  const whole = isLightResponse(response) ? lightWhole(response.light) : trueWhole(response)
  if (!whole) {
    const given = isLightResponse(response) ? response.materialised : response
    return sendNodeResponse(given, outgoing, incoming, true)
  }
  outgoing.writeHead(response.status, response.statusText, whole.headers)
  outgoing.end(whole.body)
}

/** Stops the source of a response whose client has disconnected. */
async function endUnsent({ body }: Response): Promise<void> {
  if (!body) return
  const reader = body.getReader()
  // Yoga's event streams cannot be cancelled before the first read.
  await Promise.allSettled([reader.read(), reader.cancel()])
}

interface Whole {
  readonly headers: OutgoingHttpHeaders
  readonly body: string | Uint8Array
}

/** Properties of Yoga's Response class that hold the original body. */
interface PonyfillResponse {
  readonly bodyType?: unknown
  readonly bodyInit?: unknown
  readonly _buffer?: unknown
}

/** Properties of Yoga's Headers class: the initial headers, and a map after the first change. */
interface PonyfillHeaders {
  readonly headersInit?: unknown
  readonly _map?: unknown
  readonly _setCookies?: readonly string[]
}

function lightWhole(light: LightBody): Whole | undefined {
  if (light.response) return undefined
  const headers = light.headers ? plainHeaders(light.headers) : headersOf(light)
  return headers && { headers, body: light.bytes }
}

function trueWhole(response: Response): Whole | undefined {
  const { bodyType, bodyInit, _buffer } = response as PonyfillResponse
  const body = bodyType === 'String' ? bodyInit : _buffer
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return undefined
  const headers = plainHeaders(response.headers)
  return headers && { headers, body }
}

/** Returns `undefined` for headers that `writeHead` handles differently: several cookies, and lists of pairs. */
function plainHeaders(given: Headers): OutgoingHttpHeaders | undefined {
  const { headersInit, _map: changed, _setCookies: cookies } = given as PonyfillHeaders
  if (cookies?.length) return undefined
  if (changed instanceof Map) return Object.fromEntries(changed) as OutgoingHttpHeaders
  if (changed || typeof headersInit !== 'object' || headersInit === null) return undefined
  if (Array.isArray(headersInit) || 'get' in headersInit) return undefined
  return headersInit as OutgoingHttpHeaders
}

/**
 * The headers of a response, as a list of alternating names and values for `writeHead`. Linear search is fast enough
 * for about ten headers.
 */
export class AnswerHeaders {
  readonly lines: string[]

  /** @param lines alternating names and values; names are in lower case */
  constructor(lines: string[]) {
    this.lines = lines
  }

  get(name: string): string | null {
    const key = name.toLowerCase()
    const at = this.#find(key, 0)
    if (at < 0) return null
    let value = this.lines[at + 1] as string
    // Only `set-cookie` can occur more than once.
    for (let next = this.#find(key, at + 2); next >= 0; next = this.#find(key, next + 2))
      value += `, ${this.lines[next + 1]}`
    return value
  }

  has(name: string): boolean {
    return this.#find(name.toLowerCase(), 0) >= 0
  }

  set(name: string, value: string): void {
    const key = name.toLowerCase()
    const at = this.#find(key, 0)
    if (at < 0) {
      this.lines.push(key, value)
      return
    }
    this.lines[at + 1] = value
    this.#drop(key, at + 2)
  }

  delete(name: string): void {
    this.#drop(name.toLowerCase(), 0)
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase()
    const at = key === 'set-cookie' ? -1 : this.#find(key, 0)
    if (at < 0) this.lines.push(key, value)
    else this.lines[at + 1] = `${this.lines[at + 1]}, ${value}`
  }

  #find(key: string, from: number): number {
    const { lines } = this
    for (let at = from; at < lines.length; at += 2) if (lines[at] === key) return at
    return -1
  }

  #drop(key: string, from: number): void {
    for (let at = this.#find(key, from); at >= 0; at = this.#find(key, at)) this.lines.splice(at, 2)
  }
}
