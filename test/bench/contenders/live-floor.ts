// The least that can be done: the result is serialised once and the bare ws server sends it to every socket.
import { createServer } from 'node:http'
import { WebSocketServer, type WebSocket } from 'ws'
import { createLiveFeed } from './live-feed.ts'

const feed = createLiveFeed()
const server = createServer()
const wss = new WebSocketServer({ server, perMessageDeflate: false })
const subscribers = new Map<WebSocket, string>()

function frame(id: string): string {
  return JSON.stringify({ id, type: 'next', payload: { data: { feed: feed.read() } } })
}

wss.on('connection', (socket) => {
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as { type: string; id: string }
    if (message.type === 'connection_init') return socket.send('{"type":"connection_ack"}')
    subscribers.set(socket, message.id)
    socket.send(frame(message.id))
  })
  socket.on('close', () => subscribers.delete(socket))
})
feed.serve(server, () => {
  const frames = new Map<string, string>()
  for (const [socket, id] of subscribers) {
    const text = frames.get(id) ?? frame(id)
    frames.set(id, text)
    socket.send(text)
  }
})
