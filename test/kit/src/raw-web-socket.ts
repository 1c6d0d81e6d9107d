import { WebSocket, type ClientOptions } from 'ws'
import { createQueue } from './queue.ts'
import { withTimeout } from './wait.ts'

export interface RawFrame {
  /** `performance.now()` at arrival. */
  readonly at: number
  readonly binary: boolean
  readonly bytes: Buffer
  readonly text: string
  json(): any
}

export interface RawClose {
  readonly code: number
  readonly reason: string
}

export interface RawWebSocketOptions {
  /** Default `graphql-transport-ws`; `null` asks for none. */
  readonly protocol?: string | readonly string[] | null
  readonly headers?: Readonly<Record<string, string>>
  /** Further options of `ws`, for example `ca` or `perMessageDeflate`. */
  readonly ws?: ClientOptions
}

export interface RawWebSocket {
  /** The sub-protocol the server chose; empty when none. */
  readonly protocol: string
  /** Every frame so far, taken or not. */
  readonly frames: readonly RawFrame[]
  /** Resolves once the connection is closed, by whichever side. */
  readonly closed: Promise<RawClose>
  /** Bytes that wait in this process because the server does not read. */
  readonly bufferedAmount: number
  /** A string goes as a text frame, bytes as a binary frame. */
  send(data: string | Uint8Array): void
  sendJson(message: unknown): void
  /** The next frame. Default timeout 15,000. */
  next(timeoutMs?: number): Promise<RawFrame>
  /** The next frame, parsed. */
  nextJson(timeoutMs?: number): Promise<any>
  /** The next frames, parsed. */
  takeJson(count: number, timeoutMs?: number): Promise<any[]>
  /** Resolves when no frame came for `ms`; rejects with the first that does, or that already waits. */
  silence(ms: number): Promise<void>
  /** The close code and reason. Default timeout 15,000. */
  nextClose(timeoutMs?: number): Promise<RawClose>
  /** Stops reading from the socket: a consumer that stalls. */
  pause(): void
  resume(): void
  /** Closing handshake. Default code 1000. */
  close(code?: number, reason?: string): Promise<RawClose>
  /** Cuts the connection without a closing handshake. */
  terminate(): void
  [Symbol.asyncDispose](): Promise<void>
}

/** The server answered the upgrade with an ordinary HTTP response. */
export class UpgradeRefused extends Error {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>

  constructor(statusCode: number, headers: Readonly<Record<string, string | string[] | undefined>>) {
    super(`The server refused the WebSocket upgrade with HTTP ${statusCode}`)
    this.name = 'UpgradeRefused'
    this.statusCode = statusCode
    this.headers = headers
  }
}

/** Opens a WebSocket that shows each frame as it came. `http:` addresses are taken as `ws:`. */
export async function connectRawWebSocket(
  url: string,
  options: RawWebSocketOptions = {},
): Promise<RawWebSocket> {
  const { protocol = 'graphql-transport-ws', headers = {}, ws: wsOptions = {} } = options
  const protocols = protocol === null ? [] : [protocol].flat()
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols], {
    perMessageDeflate: false,
    ...wsOptions,
    headers: { ...headers },
  })
  const frames: RawFrame[] = []
  const queue = createQueue<RawFrame>()
  socket.on('message', (data: Buffer, binary) => {
    const text = data.toString('utf8')
    const frame = { at: performance.now(), binary, bytes: data, text, json: () => JSON.parse(text) }
    frames.push(frame)
    queue.push(frame)
  })
  const closed = new Promise<RawClose>((resolve) => {
    socket.once('close', (code, reasonBytes) => {
      const reason = reasonBytes.toString('utf8')
      queue.end(`The socket was closed: ${code} ${reason}`)
      resolve({ code, reason })
    })
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_, response) => {
      reject(new UpgradeRefused(response.statusCode ?? 0, response.headers))
      socket.terminate()
    })
    // Stays for the life of the socket: after `open` an error is told by the close event.
    socket.on('error', reject)
  })

  const next = (timeoutMs = 45_000): Promise<RawFrame> => queue.next(timeoutMs, 'frame')
  return {
    frames,
    closed,
    protocol: socket.protocol,
    get bufferedAmount() {
      return socket.bufferedAmount
    },
    send: (data) => socket.send(data),
    sendJson: (message) => socket.send(JSON.stringify(message)),
    next,
    nextJson: async (timeoutMs) => (await next(timeoutMs)).json(),
    async takeJson(count, timeoutMs) {
      const taken: unknown[] = []
      while (taken.length < count) taken.push((await next(timeoutMs)).json())
      return taken
    },
    async silence(ms) {
      const frame = await next(ms).catch(() => undefined)
      if (frame) throw new Error(`Expected silence, but the server sent ${frame.text}`)
    },
    nextClose: (timeoutMs = 45_000) => withTimeout(closed, timeoutMs, 'close of the socket'),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close(code = 1000, reason) {
      socket.resume()
      socket.close(code, reason)
      return withTimeout(closed, 5_000, 'close of the socket')
    },
    terminate: () => socket.terminate(),
    async [Symbol.asyncDispose]() {
      socket.terminate()
      await closed
    },
  }
}
