import { connectRawWebSocket, type Random, type RawWebSocket } from '@vinyasa/test-kit'
import type { User } from './world.ts'

/** What was answered, as over HTTP. */
export interface SocketAnswer {
  readonly data?: unknown
  readonly errors?: readonly unknown[]
}

/** Sockets of the users of one gateway, opened when they first ask. */
export interface Sockets {
  /** Once, or as a live query, which goes on for a while beside those that come next. */
  ask(user: User, query: string, random: Random): Promise<SocketAnswer>
  close(): Promise<void>
}

/** Live queries of one socket at once. */
const MAX_LIVE = 3

interface Opened {
  readonly socket: RawWebSocket
  readonly live: string[]
}

export function createSockets(url: string): Sockets {
  const opened = new Map<string, Promise<Opened>>()
  let asked = 0

  async function open(user: User, path: string, isSentLater: boolean): Promise<Opened> {
    const { authorization, ...others } = user.headers
    const socket = await connectRawWebSocket(`${url.replace('http', 'ws')}${path}`, {
      headers: isSentLater ? others : { ...user.headers },
    })
    socket.sendJson({ type: 'connection_init', ...(isSentLater && { payload: { authorization } }) })
    await socket.nextJson()
    return { socket, live: [] }
  }

  return {
    async ask(user, query, random) {
      const path = random.pick(['', '/live'])
      const isSentLater = random.below(2) === 0
      const key = `${user.name} ${path} ${isSentLater}`
      const opening = opened.get(key) ?? open(user, path, isSentLater)
      opened.set(key, opening)
      const { socket, live } = await opening
      const id = String(asked++)
      const isLive = random.below(2) === 0
      if (isLive && live.push(id) > MAX_LIVE) socket.sendJson({ type: 'complete', id: live.shift() })
      const text = isLive ? query.replace('query', 'query @live') : query
      socket.sendJson({ type: 'subscribe', id, payload: { query: text } })
      for (;;) {
        const message = (await socket.nextJson()) as { id?: string; type: string; payload?: any }
        if (message.id !== id) continue
        if (message.type === 'error') return { errors: message.payload }
        return message.payload
      }
    },
    async close() {
      for (const { socket } of await Promise.all(opened.values())) await socket[Symbol.asyncDispose]()
    },
  }
}
