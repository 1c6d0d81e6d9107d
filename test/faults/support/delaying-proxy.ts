import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface DelayingProxy {
  readonly port: number
  [Symbol.asyncDispose](): Promise<void>
}

/** A network: whatever goes either way, ends among it, arrives so much later, and in its order. */
export async function startDelayingProxy(port: number, delayMs: number): Promise<DelayingProxy> {
  const sockets = new Set<Socket>()
  function carry(from: Socket, to: Socket): void {
    sockets.add(from)
    const later = (then: () => void): void => void setTimeout(then, delayMs)
    from
      .on('data', (data: Buffer) => later(() => to.write(data)))
      .on('end', () => later(() => to.end()))
      .on('error', () => later(() => to.destroy()))
      .on('close', () => sockets.delete(from))
  }
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    carry(client, upstream)
    carry(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
