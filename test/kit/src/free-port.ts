import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** Linux gives ports from 32,768 on to outgoing connections and to servers that listen on port 0. */
const EPHEMERAL_PORT = 32_768
const FIRST_PORT = 20_000

/**
 * Returns a port that nothing uses, for programs that cannot listen on port 0. It is below the ephemeral ports, so that
 * no connection of another test can take it before the program listens.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(EPHEMERAL_PORT - FIRST_PORT)
    const server = createServer().listen(port, host)
    const isFree = await once(server, 'listening').then(
      () => true,
      ({ code }: NodeJS.ErrnoException) => {
        if (code === 'EADDRINUSE') return false
        throw new Error(`cannot listen on ${host}:${port}: ${code}`)
      },
    )
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
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
