import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Recorded {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly at: number
}

export interface Backend extends AsyncDisposable {
  readonly url: string
  /** Every request that reached the server, in order. */
  readonly requests: Recorded[]
  /** How many connections are open. */
  connections(): Promise<number>
}

export type Handler = (request: Recorded, response: ServerResponse, raw: IncomingMessage) => void

/** Answers with JSON. */
export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

/** A real HTTP server on a free port that records every request it gets. */
export async function startBackend(handle: Handler, now: () => number = Date.now): Promise<Backend> {
  const requests: Recorded[] = []
  const server = createServer((raw, response) => {
    const at = now()
    const chunks: Buffer[] = []
    raw.on('data', (chunk: Buffer) => chunks.push(chunk))
    raw.on('end', () => {
      const request: Recorded = {
        method: raw.method ?? '',
        url: raw.url ?? '',
        headers: raw.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at,
      }
      requests.push(request)
      handle(request, response, raw)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

/** Runs clean-up functions, last registered first. */
export class Cleanup {
  readonly #tasks: AsyncDisposable[] = []

  use<T extends AsyncDisposable>(resource: T): T {
    this.#tasks.push(resource)
    return resource
  }

  async run(): Promise<void> {
    for (const task of this.#tasks.splice(0).reverse()) await task[Symbol.asyncDispose]()
  }
}
