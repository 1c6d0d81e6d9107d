import { createServer, type AddressInfo } from 'node:net'

/**
 * A port that was free a moment ago, for programs that cannot listen on port 0 and tell.
 * Everything else listens on 0: between here and its use another process may take the port.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
