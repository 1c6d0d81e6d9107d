import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import type { AddressInfo } from 'node:net'

export interface WireCall {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  /** The body so far. */
  readonly body: Buffer
}

export interface WireServer {
  readonly address: string
  readonly calls: readonly WireCall[]
  /** Every session so far, closed ones too. */
  readonly sessions: readonly ServerHttp2Session[]
  readonly pings: number
  close(): Promise<void>
}

export type WireHandler = (call: WireCall, index: number) => void

/** A gRPC server by hand, on bare HTTP/2: the handler is called when a request is whole. */
export async function startWireServer(
  handler: WireHandler,
  options: ServerOptions & { readonly listen?: string | number } = {},
): Promise<WireServer> {
  const calls: WireCall[] = []
  const sessions: ServerHttp2Session[] = []
  let pings = 0
  const server: Http2Server = createServer(options)
  server.on('session', (session) => {
    sessions.push(session)
    session.on('ping', () => pings++)
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => {
    const call = { stream, headers, body: Buffer.alloc(0) }
    const index = calls.push(call) - 1
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => (call.body = Buffer.concat([call.body, chunk])))
    stream.once('end', () => handler(call, index))
  })
  const { listen = 0 } = options
  await new Promise<void>((resolve) =>
    typeof listen === 'string' ? server.listen(listen, resolve) : server.listen(listen, '127.0.0.1', resolve),
  )
  return {
    address:
      typeof listen === 'string' ? `unix:${listen}` : `127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    sessions,
    get pings() {
      return pings
    },
    close: () =>
      new Promise((resolve) => {
        for (const session of sessions) session.destroy()
        server.close(() => resolve())
      }),
  }
}

/** A frame around a message. */
export function frame(message: Uint8Array | string, flag = 0): Buffer {
  const bytes = Buffer.from(message)
  const prefix = Buffer.alloc(5)
  prefix[0] = flag
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

const GRPC = { ':status': 200, 'content-type': 'application/grpc' }

/** Answers with these bytes and trailers. */
export function answer(
  { stream }: WireCall,
  body: Buffer,
  trailers: Record<string, string> = { 'grpc-status': '0' },
  headers: Record<string, string> = {},
): void {
  stream.respond({ ...GRPC, ...headers }, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(body)
}
