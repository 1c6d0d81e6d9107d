import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** Answers an upgrade with a status and lets go of the socket. */
export function refuseUpgrade(socket: Duplex, status: 400 | 404 | 503): void {
  // Node has let go of the socket: without a listener a client's reset would end the process, and a client that keeps
  // its half open would keep it for ever.
  socket.on('error', () => {})
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
