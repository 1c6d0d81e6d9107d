import cluster from 'node:cluster'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, isIP, type ListenOptions, type Server, type Socket } from 'node:net'
import { ConfigError } from '../errors.ts'

/** What a server listens on. */
export interface Listening {
  readonly port: number
  /** Takes no new connection; resolves when none is left. */
  close(): Promise<void>
}

/**
 * Connections that the system has made and that wait to be taken, where it allows as many. One more is tried again after a
 * second and more, whoever's it is.
 */
const BACKLOG = 4096

/**
 * Node takes one connection of each listening socket in a turn of the event loop. With one socket, whoever is new waits for
 * as many turns as others have opened connections before, those that were left again included: seconds, where turns are
 * long. With so many it is a sixteenth of them.
 */
const LISTENERS = 16

/** Listens on HTTP. Throws {@link ConfigError} when the port cannot be had. */
export async function listen(server: HttpServer, port: number, host: string): Promise<Listening> {
  const options = { port, host, backlog: BACKLOG }
  const all: Server[] = [server]
  try {
    if (!canSharePort()) await listening(server, options)
    else {
      // Sockets that share a port take it beside those of any other process that does: whether it is free is asked before.
      const free = createServer()
      await listening(free, options)
      const { port: found, address } = free.address() as AddressInfo
      await new Promise((resolve) => free.close(resolve))
      while (all.length < LISTENERS) all.push(acceptFor(server))
      // A name may have several addresses.
      const shared = { ...options, port: found, host: isIP(host) ? host : address, reusePort: true }
      for (const one of all) await listening(one, shared)
    }
  } catch (error) {
    for (const one of all) one.close()
    throw listenError(error as NodeJS.ErrnoException, port, host)
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await Promise.all(all.map((one) => new Promise((resolve) => one.close(resolve))))
    },
  }
}

/**
 * Whether sockets of one process may share a port (`SO_REUSEPORT`). The primary process of several hands a worker its
 * connections, and those that a worker did not take go to another.
 */
function canSharePort(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isKnown = major > 22 || (major === 22 && minor >= 12)
  return isKnown && process.platform === 'linux' && !cluster.isWorker
}

/** A server of the kind that `node:http` makes, whose connections are the HTTP server's. */
function acceptFor(server: HttpServer): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
    server.emit('connection', socket),
  )
}

function listening(server: Server, options: ListenOptions & { readonly reusePort?: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const says = (text: string): Error => new ConfigError(text, { cause: error })
  switch (error.code) {
    case 'EADDRINUSE':
      return says(`server.port: ${port} is already in use on ${host}; stop the other process, or pass --port`)
    case 'EACCES':
      return says(
        `server.port: no permission to listen on port ${port} of ${host}; choose a different port, for example above 1023`,
      )
    default:
      return says(`server.host: cannot listen on ${host}:${port} (${error.code ?? error.message})`)
  }
}
