import { Agent, request } from 'node:http'

export interface DeferTimes {
  /**
   * When a client can surface the first part: it looks for the start of the delimiter that ends the part (Apollo
   * Client, urql, meros).
   */
  readonly firstMs: number
  /** The same for a client that waits for the whole delimiter line (fetch-multipart-graphql, Relay with it). */
  readonly firstStrictMs: number
  readonly lastMs: number
  /** The bodies of the parts, or the one JSON body. */
  readonly bodies: readonly string[]
}

export interface DeferClient {
  ask(url: string, query: string, accept: string): Promise<DeferTimes>
  close(): void
}

/** Asks over one kept connection, and notes when bytes arrive. */
export function createDeferClient(): DeferClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })

  function ask(url: string, query: string, accept: string): Promise<DeferTimes> {
    const body = JSON.stringify({ query })
    return new Promise((resolve, reject) => {
      const start = performance.now()
      const sent = request(url, {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', accept, 'content-length': Buffer.byteLength(body) },
      })
      sent.once('error', reject)
      sent.once('response', (response) => {
        const isMultipart = response.headers['content-type']?.startsWith('multipart/') ?? false
        let text = ''
        let firstMs = 0
        let firstStrictMs = 0
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
          const now = performance.now() - start
          // Behind the opening delimiter and a body.
          const body = text.indexOf('\r\n\r\n')
          firstMs ||= body >= 0 && text.includes('\r\n---', body) ? now : 0
          firstStrictMs ||= body >= 0 && text.includes('\r\n---\r\n', body) ? now : 0
        })
        response.once('end', () => {
          const lastMs = performance.now() - start
          if (response.statusCode !== 200) {
            reject(new Error(`${response.statusCode}: ${text.slice(0, 500)}`))
            return
          }
          const bodies = isMultipart ? bodiesOf(text) : [text]
          resolve({ firstMs: firstMs || lastMs, firstStrictMs: firstStrictMs || lastMs, lastMs, bodies })
        })
      })
      sent.end(body)
    })
  }

  return { ask, close: () => agent.destroy() }
}

function bodiesOf(text: string): string[] {
  return text
    .split(/\r\n---(?:--)?(?=\r\n)/)
    .map((part) => part.slice(part.indexOf('\r\n\r\n') + 4))
    .filter((body) => body.startsWith('{'))
}
