import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

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

/** Whether something takes connections there. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
