import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Disposables } from '@vinyasa/test-kit'

/** Serves on a free port of the loopback until the test is over; the URL of `/graphql`. */
export async function listen(handler: RequestListener, disposables: Disposables): Promise<string> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  disposables.use(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
}
