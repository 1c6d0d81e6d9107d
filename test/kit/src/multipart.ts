import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { createPartParser } from './part-parser.ts'
import { createQueue } from './queue.ts'
import { withTimeout } from './wait.ts'

export interface MultipartPart {
  /** `performance.now()` when the delimiter that ends the part had arrived: the moment a client can use it. */
  readonly at: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  readonly text: string
  json(): any
}

export interface RawChunk {
  readonly at: number
  readonly bytes: Buffer
}

export interface RawRequest {
  /** Default POST when there is a body, else GET. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** An object goes as JSON with its Content-Type. */
  readonly body?: string | Uint8Array | object
}

export interface MultipartResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As the Content-Type names it; undefined when the response is not multipart. */
  readonly boundary: string | undefined
  /** Every part so far, taken or not. */
  readonly parts: readonly MultipartPart[]
  /** The bytes of the body as the socket delivered them, HTTP chunking removed. */
  readonly chunks: readonly RawChunk[]
  /** Resolves with `complete` at the end of the response; false when the closing delimiter was missing. */
  readonly ended: Promise<{ readonly complete: boolean }>
  /** The next part. Default timeout 5,000. */
  nextPart(timeoutMs?: number): Promise<MultipartPart>
  /** All parts, after the end. Default timeout 10,000. */
  allParts(timeoutMs?: number): Promise<readonly MultipartPart[]>
  /** The whole body, after the end. */
  text(timeoutMs?: number): Promise<string>
  pause(): void
  resume(): void
  /** Leaves: the connection is cut. */
  abort(): void
  [Symbol.asyncDispose](): Promise<void>
}

/** Sends a request on a connection of its own and reads a multipart answer part by part, raw bytes kept. */
export async function requestMultipart(url: string, options: RawRequest = {}): Promise<MultipartResponse> {
  const { body, headers = {}, method = body === undefined ? 'GET' : 'POST' } = options
  const bytes = toBytes(body)
  const request = httpRequest(url, {
    method,
    agent: false,
    headers: {
      accept: 'multipart/mixed',
      ...(isObject(body) ? { 'content-type': 'application/json' } : {}),
      ...(bytes ? { 'content-length': String(bytes.length) } : {}),
      ...headers,
    },
  })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    request.end(bytes)
  })

  const boundary = boundaryOf(response.headers['content-type'])
  const parts: MultipartPart[] = []
  const chunks: RawChunk[] = []
  const queue = createQueue<MultipartPart>()
  const parser = createPartParser(boundary)
  const ended = new Promise<{ complete: boolean }>((resolve) => {
    response.on('data', (chunk: Buffer) => {
      const at = performance.now()
      chunks.push({ at, bytes: chunk })
      for (const raw of parser.push(chunk)) {
        const text = raw.bytes.toString('utf8')
        const part = { at, headers: raw.headers, bytes: raw.bytes, text, json: () => JSON.parse(text) }
        parts.push(part)
        queue.push(part)
      }
    })
    const end = (): void => {
      queue.end('The response ended')
      resolve({ complete: response.complete && parser.isClosed() })
    }
    response.once('close', end)
    response.on('error', end)
  })

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    boundary,
    parts,
    chunks,
    ended,
    nextPart: (timeoutMs = 30_000) => queue.next(timeoutMs, 'part'),
    async allParts(timeoutMs = 30_000) {
      await withTimeout(ended, timeoutMs, 'end of the response')
      return parts
    },
    async text(timeoutMs = 30_000) {
      await withTimeout(ended, timeoutMs, 'end of the response')
      return Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString('utf8')
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    abort: () => void request.destroy(),
    async [Symbol.asyncDispose]() {
      request.destroy()
      response.resume()
      await ended
    },
  }
}

function isObject(body: RawRequest['body']): body is object {
  return typeof body === 'object' && !(body instanceof Uint8Array)
}

function toBytes(body: RawRequest['body']): Buffer | undefined {
  if (body === undefined) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body))
}

function boundaryOf(contentType: string | undefined): string | undefined {
  const match = contentType?.match(/^multipart\/[^;]+;.*?\bboundary=(?:"([^"]*)"|([^;\s]+))/i)
  return match ? (match[1] ?? match[2]) : undefined
}
