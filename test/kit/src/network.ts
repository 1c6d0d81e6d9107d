import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface NetworkOptions {
  /** How much later all arrives, either way. Default 0. */
  readonly delayMs?: number
}

/** The network in front of a server of this machine: whoever connects to its port is carried there. */
export interface Network {
  readonly port: number
  /** From now on all arrives so much later, in its order. */
  delay(ms: number): void
  /** Connections end, and new ones are refused. */
  cut(): void
  /** Connections stay, new ones are taken, and nothing arrives until `heal`. */
  stall(): void
  /** The server's ends are gone without a word to the clients; new connections are carried. */
  halfOpen(): void
  /** Carries all again, what was held up by `stall` first. */
  heal(): void
  [Symbol.asyncDispose](): Promise<void>
}

export async function startNetwork(port: number, { delayMs = 0 }: NetworkOptions = {}): Promise<Network> {
  const sockets = new Set<Socket>()
  const upstreams = new Set<Socket>()
  let state: 'open' | 'cut' | 'stalled' = 'open'
  let lateness = delayMs

  /** Whatever goes one way, its end too. */
  function carry(from: Socket, to: Socket): void {
    let last = Promise.resolve()
    async function afterLast(before: Promise<void>, until: number, then: () => void): Promise<void> {
      await before
      const left = until - performance.now()
      if (left > 0) await sleep(left)
      if (!to.destroyed) then()
    }
    const later = (then: () => void): void => {
      last = afterLast(last, performance.now() + lateness, then)
    }
    sockets.add(from)
    from
      .on('data', (data: Buffer) => later(() => to.write(data)))
      .on('end', () => later(() => to.end()))
      .on('error', () => later(() => to.destroy()))
      .on('close', () => sockets.delete(from))
    if (state === 'stalled') from.pause()
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (state === 'cut') return void client.destroy()
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    upstreams.add(upstream)
    upstream.once('close', () => upstreams.delete(upstream))
    carry(client, upstream)
    carry(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    port: (server.address() as AddressInfo).port,
    delay: (ms) => void (lateness = ms),
    cut() {
      state = 'cut'
      for (const socket of sockets) socket.destroy()
    },
    stall() {
      state = 'stalled'
      for (const socket of sockets) socket.pause()
    },
    halfOpen() {
      for (const upstream of upstreams) upstream.destroy()
    },
    heal() {
      state = 'open'
      for (const socket of sockets) socket.resume()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
