import { createHmac } from 'node:crypto'
import { WebSocket } from 'ws'

/** A token of HS256, as the gateway's config takes it. */
export function tokenOf(subject: string, secret: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: 'bench', aud: 'bench', sub: subject, exp: Math.floor(Date.now() / 1000) + 3_600 }
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

interface Item {
  readonly id: string
  readonly value: number
  readonly caller: string
}

export interface SubscriberOptions {
  readonly url: string
  readonly index: number
  readonly token: string
  /** Whose answers alone it may get; empty: the backend does not know who asks. */
  readonly subject: string
  readonly document: number
}

/** One client with one live query, on a socket and from an address of its own. */
export class Subscriber {
  readonly socket: WebSocket
  readonly document: number
  /** The newest value, and when it came. */
  value = -1
  at = 0
  updates = 0
  /** Resolves with the first result. */
  readonly ready: Promise<void>

  constructor({ url, index, token, subject, document }: SubscriberOptions) {
    this.document = document
    this.socket = new WebSocket(url, 'graphql-transport-ws', {
      perMessageDeflate: false,
      localAddress: `127.1.${index >> 8}.${index & 255 || 255}`,
    })
    this.ready = new Promise((resolve, reject) => {
      const send = (message: object): void => this.socket.send(JSON.stringify(message))
      this.socket.on('error', reject)
      this.socket.on('close', (code) => reject(new Error(`A socket was closed with ${code}`)))
      this.socket.on('open', () =>
        send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }),
      )
      this.socket.on('message', (bytes: Buffer) => {
        const message = JSON.parse(bytes.toString()) as {
          readonly type: string
          readonly payload?: { readonly data?: { readonly item: Item } }
        }
        if (message.type === 'connection_ack') {
          const query = `query Item${document} @live { item(id: "${document}") { id value caller } }`
          return send({ id: '1', type: 'subscribe', payload: { query } })
        }
        const item = message.payload?.data?.item
        if (message.type === 'ping') return send({ type: 'pong' })
        if (item?.id !== String(document) || item.caller !== subject)
          return reject(new Error(`Expected item ${document} of "${subject}", got ${bytes.toString()}`))
        this.at = performance.now()
        this.value = item.value
        this.updates++
        resolve()
      })
    })
    // Whoever awaits it hears of what fails before the first result; what comes later shows in `value`.
    this.ready.catch(() => {})
  }
}
