import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Target } from './attack.ts'

/** An address that none of the others has. */
export const ANOTHER_ADDRESS = '127.0.0.2'

/** A connection that may fail at any time; its bytes are read and dropped. */
export async function open(
  { host, port }: Target,
  signal: AbortSignal,
  localAddress?: string,
): Promise<Socket> {
  const socket = connect({ port, host, ...(localAddress && { localAddress }) }).on('error', () => {})
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {})
  return socket
}

/** Resolves when the socket takes more, or is gone. */
export async function drained(socket: Socket): Promise<void> {
  if (!socket.writableNeedDrain || socket.destroyed) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.once('drain', done).once('close', done)
  })
}

/** Resolves when the socket is gone, whatever it failed with, and after `ms`. */
export async function goneWithin(ms: number, socket: Socket, signal: AbortSignal): Promise<void> {
  if (!socket.destroyed) await Promise.race([once(socket, 'close'), pause(ms, signal)]).catch(() => {})
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {})
}

export interface PostOptions {
  readonly headers?: string
  readonly path?: string
  readonly host?: string
}

/** A request with a JSON body, as bytes. */
export function post(
  body: string,
  { headers = '', path = '/graphql', host = 'x' }: PostOptions = {},
): string {
  const length = Buffer.byteLength(body)
  return `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
}

/** A text frame of a client (RFC 6455, section 5.2), masked with zeros. */
export function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.of(0x81, 0x80 | length), Buffer.alloc(4), payload])
  const head = Buffer.alloc(14)
  head.writeUInt16BE(length < 65_536 ? 0x81_fe : 0x81_ff)
  if (length < 65_536) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head.subarray(0, length < 65_536 ? 8 : 14), payload])
}

export interface WebSocketOptions {
  readonly localAddress?: string
  /** Of `connection_init`: operations of other payloads have nothing in common. */
  readonly payload?: object
}

/** A socket whose `connection_init` was acknowledged, or that is gone: operations before that are refused (4401). */
export async function openWebSocket(
  target: Target,
  signal: AbortSignal,
  { localAddress, payload }: WebSocketOptions = {},
): Promise<Socket> {
  const socket = await open(target, signal, localAddress)
  socket.write(
    'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
  )
  socket.write(frame(JSON.stringify({ type: 'connection_init', payload })))
  if (!socket.destroyed) await Promise.race([acknowledged(socket), once(socket, 'close')]).catch(() => {})
  return socket
}

async function acknowledged(socket: Socket): Promise<void> {
  for (let text = ''; !text.includes('connection_ack');) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    text += chunk.toString('latin1')
  }
}
