import { WebSocket } from 'ws'

export interface LiveUpdate {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string }[]
}

export interface LiveStreamOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  readonly onUpdate: (update: LiveUpdate) => void
  /** Leaves: the connection is cut. */
  readonly signal: AbortSignal
}

/**
 * Follows a live query over WebSocket until the socket is closed, by whichever side, and gives the close code. Rejects
 * when the server ends the operation, which it does not with a live query, or the connection fails.
 */
export function followLiveFrames(url: string, options: LiveStreamOptions): Promise<number> {
  const { headers = {}, query, variables, onUpdate, signal } = options
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws', {
      headers,
      perMessageDeflate: false,
    })
    const leave = (): void => socket.terminate()
    signal.addEventListener('abort', leave, { once: true })
    socket.on('open', () => socket.send('{"type":"connection_init"}'))
    socket.on('error', reject)
    socket.on('close', (code) => {
      signal.removeEventListener('abort', leave)
      resolve(code)
    })
    socket.on('message', (bytes: Buffer) => {
      const { type, payload } = JSON.parse(bytes.toString('utf8')) as { type: string; payload?: unknown }
      switch (type) {
        case 'connection_ack':
          return socket.send(JSON.stringify({ id: 'a', type: 'subscribe', payload: { query, variables } }))
        case 'next':
          return onUpdate(payload as LiveUpdate)
        case 'ping':
          return socket.send('{"type":"pong"}')
        case 'pong':
          return
        default:
          reject(new Error(`${type} ${JSON.stringify(payload)}`))
          socket.terminate()
      }
    })
  })
}

/** Follows a live query over an event stream until the server ends it. Rejects when it is cut or refused. */
export async function followLiveEvents(url: string, options: LiveStreamOptions): Promise<void> {
  const { headers = {}, query, variables, onUpdate, signal } = options
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query, variables }),
    signal,
  })
  if (!response.ok || !response.body) throw new Error(`status ${response.status}: ${await response.text()}`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: ?(.*)$/m.exec(event)?.[1]
      if (/^event: ?next$/m.test(event) && data) onUpdate(JSON.parse(data) as LiveUpdate)
    }
  }
}
