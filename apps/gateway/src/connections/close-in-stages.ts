import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import { closeOnceSent, linger } from './linger.ts'

/** Statuses for what cannot be read, by Node's codes; all else is 400. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/**
 * The response that is being written on a socket, as Node keeps it there; Node asks for it before it refuses
 * a request itself.
 */
interface SocketInsides {
  readonly _httpMessage?: (ServerResponse<IncomingMessage> & { readonly _headerSent?: boolean }) | null
}

/**
 * Lets clients have the last answer of their connection although they are still sending: a request that cannot be read, as
 * Node refuses it, or one that was answered before it was there whole. Node closes the socket at once in both cases. What
 * else was asked on the connection is not answered, and ends with it. `isWhole`: all of a connection's requests that are being
 * answered are there whole, so that nothing more will come. `onRefused` is called for what Node refuses, with the response
 * that it takes the place of, if there is one.
 */
export function closeInStages(
  server: Server,
  isWhole: (socket: Socket) => boolean,
  onRefused?: (status: number, response: ServerResponse<IncomingMessage> | undefined) => void,
): void {
  const lingering = new WeakSet<Socket>()

  function begin(socket: Socket): void {
    lingering.add(socket)
    linger(socket)
  }

  /** In place of the socket's own, which HTTP calls behind an answer that is the last of its connection. */
  function destroySoon(this: Socket): void {
    if (lingering.has(this)) return
    if (this.destroyed || isWhole(this)) closeOnceSent(this)
    else begin(this)
  }

  server.on('connection', (socket: Socket) => {
    socket.destroySoon = destroySoon
  })
  // Node leaves to the listener what becomes of the connection. It tells of a broken one here, too.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!(socket instanceof Socket)) return void socket.destroy(error)
    if (lingering.has(socket)) return
    if (!socket.writable) return void socket.destroy(error)
    const { _httpMessage: response } = socket as SocketInsides
    // Half a response cannot be taken back.
    if (!response?._headerSent) {
      const status = STATUSES[error.code ?? ''] ?? 400
      onRefused?.(status, response ?? undefined)
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`)
    }
    begin(socket)
  })
}
