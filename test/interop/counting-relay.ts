import { connect, createServer, type AddressInfo } from 'node:net'

export interface CountingRelay {
  readonly port: number
  /** What came from the server so far. */
  bytesReceived(): number
  close(): void
}

/** Passes connections on to a port of this machine. */
export async function startCountingRelay(to: number): Promise<CountingRelay> {
  let bytes = 0
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    upstream.on('data', (chunk) => (bytes += chunk.length))
    client.pipe(upstream).pipe(client)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    bytesReceived: () => bytes,
    close: () => void server.close(),
  }
}
