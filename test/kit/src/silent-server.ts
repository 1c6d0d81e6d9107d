import { createServer, type AddressInfo, type Socket } from 'node:net'

export interface SilentServer {
  readonly port: number
  /** Connections accepted so far. */
  readonly connections: number
  [Symbol.asyncDispose](): Promise<void>
}

/** Accepts TCP connections, reads what comes, and never says anything. */
export async function startSilentServer(port = 0): Promise<SilentServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.resume()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
