import { createServer, type AddressInfo, type Socket } from 'node:net'

export interface TcpServer {
  readonly port: number
  /** Connections accepted so far. */
  readonly connections: number
  [Symbol.asyncDispose](): Promise<void>
}

export interface TcpServerOptions {
  /** Default: a free one. */
  readonly port?: number
  /** What it says to whatever arrives. Default: nothing, ever. */
  readonly answer?: string
}

/** Accepts TCP connections, reads what comes, and understands nothing of it. */
export async function startTcpServer({ port = 0, answer = '' }: TcpServerOptions = {}): Promise<TcpServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.on('data', () => void (answer && socket.write(answer)))
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
