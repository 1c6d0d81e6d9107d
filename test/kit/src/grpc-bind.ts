import type { Server, ServerCredentials } from '@grpc/grpc-js'

/** Binds to a port, waiting for one that a server just stopped is about to give back. */
export async function bindServer(
  server: Server,
  port: number,
  credentials: ServerCredentials,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await new Promise<number>((resolve, reject) => {
        server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) =>
          error ? reject(error) : resolve(bound),
        )
      })
    } catch (error) {
      if (port === 0 || attempt === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
